// One picture of the view: axis, lanes, slices, cursor, measured span. No state is kept here.

const TEXT = "Inter, sans-serif", MONO = "'JetBrains Mono', monospace", LABEL_FROM = 34, PAD = 6;

function drawTimeline(pen, view, layout, palette, pointer) {
  pen.clearRect(0, 0, layout.width, layout.height);
  pen.textBaseline = "middle";
  const at = (ns) => layout.gutter + ((ns - view.from) / (view.to - view.from)) * layout.plot;
  drawAxis(pen, view, layout, palette, at);
  for (const lane of layout.lanes) drawLane(pen, lane, layout, palette, at, pointer);
  if (view.measured) drawMeasure(pen, view.measured, layout, palette, at);
  if (pointer.x !== null && pointer.x >= layout.gutter) drawCursor(pen, view, layout, palette, pointer);
}

function drawAxis(pen, view, layout, palette, at) {
  const { step, found } = ticks(view.from, view.to, layout.plot);
  pen.font = `12px ${TEXT}`;
  pen.textAlign = "center";
  for (const tick of found) {
    const x = at(tick);
    const text = tick === 0 ? "0" : timeText(tick, step);
    pen.fillStyle = palette.muted;
    pen.fillText(text, Math.min(Math.max(x, layout.gutter + 8), layout.width - 28), 11);
    pen.fillStyle = palette.border;
    for (const lane of layout.lanes) {
      for (const row of lane.rows) pen.fillRect(Math.round(x), row.top, 1, row.height);
    }
  }
  pen.textAlign = "left";
}

function drawLane(pen, lane, layout, palette, at, pointer) {
  drawHead(pen, lane, palette);
  if (lane !== layout.lanes[layout.lanes.length - 1]) {
    pen.fillStyle = palette.border;
    pen.fillRect(0, lane.bottom, layout.width, 1);
  }
  if (!lane.run) {
    pen.font = `12px ${TEXT}`;
    pen.fillStyle = palette.muted;
    pen.fillText(lane.message, layout.gutter, lane.top + HEAD + ROW / 2);
    return;
  }
  pen.save();
  pen.beginPath();
  pen.rect(layout.gutter, lane.top, layout.plot, lane.bottom - lane.top);
  pen.clip();
  for (const row of lane.rows) drawRow(pen, lane, row, layout, palette, at, pointer);
  drawEndNote(pen, lane, layout, palette, at);
  pen.restore();
  drawGutter(pen, lane, layout, palette);
}

function drawHead(pen, lane, palette) {
  const y = lane.top + HEAD / 2;
  pen.font = `600 10.5px ${TEXT}`;
  const box = Math.max(18, pen.measureText(lane.key).width + 8);
  pen.beginPath();
  pen.roundRect(0.5, y - 8.5, box - 1, 17, 4);
  pen.fillStyle = pen.strokeStyle = lane.baseline ? palette.ink : palette.faint;
  if (lane.baseline) pen.fill();
  else pen.stroke();
  pen.fillStyle = lane.baseline ? palette.ground : palette.ink;
  pen.textAlign = "center";
  pen.fillText(lane.key, box / 2, y + 0.5);
  pen.textAlign = "left";
  pen.font = `12.5px ${MONO}`;
  pen.fillStyle = palette.ink;
  pen.fillText(lane.variant, box + 8, y);
  const used = box + 8 + pen.measureText(lane.variant).width + 12;
  pen.font = `12px ${TEXT}`;
  pen.fillStyle = palette.muted;
  pen.fillText(lane.run && lane.run.drawn < lane.run.slices ? `${lane.summary} · ${share(lane.run)}` : lane.summary, used, y);
}

function share(run) {
  return `the longest ${run.drawn.toLocaleString("en-US")} of ${run.slices.toLocaleString("en-US")} slices drawn`;
}

function drawGutter(pen, lane, layout, palette) {
  if (!layout.gutter) return;
  pen.font = `11.5px ${TEXT}`;
  pen.fillStyle = palette.muted;
  for (const row of lane.rows) {
    const y = row.track.depth > 1 ? row.top + NESTED / 2 : row.top + row.height / 2 - (row.height === ROW ? 1 : 0);
    pen.fillText(clipped(pen, row.track.name, layout.gutter - 12), 0, y);
  }
}

function drawRow(pen, lane, row, layout, palette, at, pointer) {
  const run = lane.run;
  const launches = row.track.kind === "launches";
  let drawnTo = -1;
  for (const i of run.rows[row.index]) {
    const left = at(run.start[i]), right = at(run.start[i] + run.duration[i]);
    if (right < layout.gutter || left > layout.width) continue;
    // Below one pixel only the first slice of each pixel is drawn: the others would lie on it.
    if (right - left < 1 && run.depth[i] === 0 && Math.floor(right) === drawnTo) continue;
    drawnTo = Math.floor(right);
    const [y, height] = sliceBox(row, run.depth[i]);
    const style = palette.roles[run.names[run.name[i]].role];
    drawSlice(pen, { left, y, width: Math.max(right - left, 1), height }, launches ? null : style, palette);
    const hovered = pointer.hit && pointer.hit.lane === lane.key && (pointer.hit.slice === i || pointer.hit.launch === i);
    if (hovered) outline(pen, left, y, Math.max(right - left, 1), height, palette);
    if (!launches && right - left >= LABEL_FROM) drawLabel(pen, run, i, { left, right, y, height }, layout, style, palette);
  }
}

function drawSlice(pen, box, style, palette) {
  if (style === null) {
    pen.fillStyle = palette.faint;
    pen.fillRect(box.left, box.y, box.width, box.height);
    return;
  }
  if (style.dashed !== undefined && box.width < 4) {
    // Too narrow for a hatch: a line of its colour.
    pen.fillStyle = style.edge;
    pen.fillRect(box.left, box.y, box.width, box.height);
    return;
  }
  const gap = box.width > 4 ? 1 : 0;
  pen.beginPath();
  pen.roundRect(box.left, box.y, box.width - gap, box.height, box.width > 6 ? 2 : 0);
  if (style.dashed !== undefined) {
    pen.fillStyle = palette.ground;
    pen.fill();
  }
  pen.fillStyle = style.fill;
  pen.fill();
  if (style.edge && box.width > 3) {
    pen.strokeStyle = style.edge;
    pen.lineWidth = 1;
    pen.setLineDash(style.dashed ? [3, 2] : []);
    pen.stroke();
    pen.setLineDash([]);
  }
}

function outline(pen, x, y, width, height, palette) {
  pen.strokeStyle = palette.ink;
  pen.lineWidth = 2;
  pen.strokeRect(x, y, width, height);
  pen.lineWidth = 1;
}

function drawLabel(pen, run, i, box, layout, style, palette) {
  const from = Math.max(box.left, layout.gutter) + PAD;
  const room = Math.min(box.right, layout.width) - from - PAD;
  if (room < LABEL_FROM - 2 * PAD) return;
  pen.font = `500 12px ${TEXT}`;
  const name = clipped(pen, run.names[run.name[i]].short, room);
  if (!name) return;
  const y = box.y + box.height / 2 + 0.5;
  const width = pen.measureText(name).width;
  if (style.dashed !== undefined) {
    // A name on a hatch needs ground under it.
    pen.fillStyle = palette.ground;
    pen.fillRect(from - 3, box.y + 3, width + 6, box.height - 6);
  }
  pen.fillStyle = style.text;
  pen.fillText(name, from, y);
  pen.font = `12px ${TEXT}`;
  const time = durationText(run.duration[i]);
  if (width + 8 + pen.measureText(time).width > room || style.dashed !== undefined) return;
  pen.globalAlpha = 0.82;
  pen.fillText(time, from + width + 8, y);
  pen.globalAlpha = 1;
}

// After a short lane's end: how its speed relates to the baseline's.
function drawEndNote(pen, lane, layout, palette, at) {
  if (!lane.note || !lane.rows.length) return;
  const row = lane.rows[lane.rows.length - 1];
  const x = at(extent(lane.run)[1]) + 10;
  pen.font = `12px ${TEXT}`;
  if (x < layout.gutter || x + pen.measureText(lane.note).width > layout.width) return;
  pen.fillStyle = palette.muted;
  pen.fillText(lane.note, x, row.top + Math.min(row.height, ROW) / 2 - 1);
}

function drawCursor(pen, view, layout, palette, pointer) {
  const ns = view.from + ((pointer.x - layout.gutter) / layout.plot) * (view.to - view.from);
  pen.fillStyle = palette.cursor;
  pen.fillRect(Math.round(pointer.x), 20, 1, layout.height - 26);
  pill(pen, timeText(ns, (view.to - view.from) / 200), pointer.x, layout, palette.cursor);
}

function drawMeasure(pen, measured, layout, palette, at) {
  const [left, right] = [at(Math.min(...measured)), at(Math.max(...measured))];
  pen.globalAlpha = 0.14;
  pen.fillStyle = palette.cursor;
  pen.fillRect(left, 22, right - left, layout.height - 28);
  pen.globalAlpha = 1;
  pill(pen, `Δ ${exactText(Math.abs(measured[1] - measured[0]))}`, (left + right) / 2, layout, palette.cursor);
}

function pill(pen, text, x, layout, ground) {
  pen.font = `600 12px ${TEXT}`;
  const width = pen.measureText(text).width + 14;
  const left = Math.min(Math.max(x - width / 2, layout.gutter), layout.width - width);
  pen.fillStyle = ground;
  pen.beginPath();
  pen.roundRect(left, 2, width, 18, 4);
  pen.fill();
  pen.fillStyle = "#FFFFFF";
  pen.fillText(text, left + 7, 11.5);
}

function clipped(pen, text, room) {
  if (pen.measureText(text).width <= room) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(`${text.slice(0, middle)}…`).width <= room) low = middle;
    else high = middle - 1;
  }
  return low > 1 ? `${text.slice(0, low)}…` : "";
}
