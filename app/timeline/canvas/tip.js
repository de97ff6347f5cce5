// What lies under the pointer, and the box that tells it.

const INFERRED = "inferred from the uncaptured pass";

function hitAt(chart, x, y) {
  for (const lane of chart.layout.lanes) {
    for (const row of lane.rows) {
      if (y < row.top || y >= row.top + row.height || x < chart.layout.gutter) continue;
      const slice = sliceAt(chart, lane.run, row, x, y);
      return slice < 0 ? null : { lane: lane.key, label: lane.label, stages: lane.stages, run: lane.run, slice };
    }
  }
  return null;
}

// The topmost slice under the point; a thin one counts within two pixels of it.
function sliceAt(chart, run, row, x, y) {
  const from = chart.time(x - 2), to = chart.time(x + 2);
  let found = -1;
  for (const band of row.tracks.flatMap((track) => run.bands[track])) {
    const [top, height] = sliceBox(row, band.depth);
    if (y < top - 2 || y > top + height + 2 || isHidden(row, band)) continue;
    const [first, end] = within(run, band, from, to);
    for (let i = first; i < end; i++) if (run.start[i] + run.duration[i] >= from) found = i;
  }
  return found;
}

function showTip(tip, pointer, layout) {
  const told = pointer.hit ? sliceLines(pointer.hit) : pointer.named ? nameLines(pointer.named) : null;
  tip.hidden = told === null;
  if (tip.hidden) return;
  for (const [i, line] of told.entries()) tip.children[i].textContent = line;
  const width = Math.min(360, layout.width - 16);
  tip.style.maxWidth = `${width}px`;
  tip.style.left = `${Math.max(0, Math.min(pointer.x + 14, layout.width - width))}px`;
  tip.style.top = `${pointer.y + 18}px`;
}

function sliceLines(hit) {
  const { run, slice } = hit, name = run.names[run.name[slice]];
  return [name.short, facts(hit), name.full, causeText(run, slice)];
}

// Of a row its whole name and what a click does; of a lane the name that was cut.
function nameLines({ lane, row }) {
  if (!row) return [lane.label, "", "", ""];
  return [row.full ?? row.label, `${row.folded ? "folded: a click opens" : "a click folds"} ${KINDS[row.kind]}`, "", ""];
}

// What has a name at the point, without being a slice.
function nameAt(layout, x, y) {
  const found = namedAt(layout, x, y);
  if (found) return found;
  const lane = layout.lanes.find((one) => one.cut && y >= one.top && y < one.top + HEAD);
  return lane ? { lane, row: null } : null;
}

function facts({ run, slice, label, stages }) {
  const many = countOf(run, slice), time = run.busy ? run.busy[slice] : run.duration[slice];
  const kind = run.tracks[run.track[slice]].kind;
  if (many > 1) return `the longest of ${many.toLocaleString("en-US")} slices here, ${exactText(time)} together`;
  if (kind === "launches" || kind === "calls") return `host call · ${exactText(time)}`;
  if (kind !== run.main[0]) return `${kind === "ops" ? "operator" : "annotation"} · ${exactText(time)}`;
  const part = ((time / run.work) * 100).toFixed(1);
  return [run.names[run.name[slice]].role, stagesText(run, slice, stages), exactText(time), `${part} % of ${label}`].filter(Boolean).join(" · ");
}

// `aten::linear in Bert_0 > Linear_1, model.py(12): forward (inferred from the uncaptured pass)`
function causeText(run, slice) {
  const [operator, module, source, inferred] = causeOf(run, slice);
  const told = [[operator, module].filter(Boolean).join(" in "), source].filter(Boolean).join(", ");
  return told && inferred ? `${told} (${INFERRED})` : told;
}

function causeOf(run, slice) {
  return countOf(run, slice) === 1 ? run.causes[run.cause[slice]] ?? [] : [];
}

function stagesText(run, slice, stages) {
  const covered = run.stage_sets[run.stages[slice]] ?? [];
  return covered.length > 1 && covered.length === stages ? `all ${stages} stages` : covered.join(", ");
}
