// What lies under the pointer, and the box that tells it.

function hitAt(chart, x, y) {
  for (const lane of chart.layout.lanes) {
    for (const row of lane.rows) {
      if (y < row.top || y >= row.top + row.height || x < chart.layout.gutter) continue;
      return sliceAt(chart, lane, row, x, y);
    }
  }
  return null;
}

// The topmost slice under the point; a thin one counts within two pixels of it.
function sliceAt(chart, lane, row, x, y) {
  const run = lane.run;
  const from = chart.time(x - 2), to = chart.time(x + 2);
  let found = -1;
  for (const i of run.rows[row.index]) {
    const [top, height] = sliceBox(row, run.depth[i]);
    if (run.start[i] > to) break;
    if (run.start[i] + run.duration[i] >= from && y >= top - 2 && y <= top + height + 2) found = i;
  }
  return found < 0 ? null : { lane: lane.key, variant: lane.variant, stages: lane.stages, run, slice: found, launch: run.launch[found] };
}

function showTip(tip, pointer, layout) {
  tip.hidden = pointer.hit === null;
  if (tip.hidden) return;
  const { run, slice, variant, stages } = pointer.hit;
  const name = run.names[run.name[slice]];
  const host = run.tracks[run.track[slice]].kind === "launches";
  tip.children[0].textContent = name.short;
  tip.children[1].textContent = host ? `host call · ${exactText(run.duration[slice])}` : facts(run, slice, name, variant, stages);
  tip.children[2].textContent = name.full;
  const width = Math.min(360, layout.width - 16);
  tip.style.maxWidth = `${width}px`;
  tip.style.left = `${Math.max(0, Math.min(pointer.x + 14, layout.width - width))}px`;
  tip.style.top = `${pointer.y + 18}px`;
}

function facts(run, slice, name, variant, stages) {
  const covered = run.stage_sets[run.stages[slice]] ?? [];
  const told = covered.length > 1 && covered.length === stages ? `all ${stages} stages` : covered.join(", ");
  const part = ((run.duration[slice] / run.busy) * 100).toFixed(1);
  return [name.role, told, exactText(run.duration[slice]), `${part} % of ${variant}`].filter(Boolean).join(" · ");
}
