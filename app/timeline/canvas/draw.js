// One picture of the view: axis, lanes, cursor, range, flow. A scene holds all that it needs; no state is kept here.

const LABEL_PART = 0.6; // of a lane's only line: its label may be the long name of a file

function drawTimeline(pen, scene) {
  const { view, layout, palette, pointer } = scene;
  pen.fillStyle = palette.ground;
  pen.fillRect(0, 0, layout.width, layout.height);
  pen.textBaseline = "middle";
  scene.at = (ns) => layout.gutter + ((ns - view.from) / (view.to - view.from)) * layout.plot;
  drawAxis(pen, scene);
  for (const lane of layout.lanes) drawLane(pen, lane, scene);
  if (view.range) drawRange(pen, scene);
  if (pointer.x !== null && pointer.x >= layout.gutter) drawCursor(pen, scene);
}

function drawAxis(pen, { view, layout, palette, at }) {
  const { step, found } = ticks(view.from, view.to, layout.plot);
  pen.font = `12px ${TEXT}`;
  pen.textAlign = "center";
  for (const tick of found) {
    const x = at(tick);
    pen.fillStyle = palette.muted;
    const text = tick === 0 ? "0" : timeText(tick, step), half = widthOf(pen, text) / 2;
    pen.fillText(text, Math.min(Math.max(x, layout.gutter + half), layout.width - half), 11);
    pen.fillStyle = palette.border;
    for (const lane of layout.lanes) {
      const last = lane.rows[lane.rows.length - 1];
      if (last) pen.fillRect(Math.round(x), lane.top + lane.head, 1, last.top + last.height - lane.top - lane.head);
    }
  }
  pen.textAlign = "left";
}

function drawLane(pen, lane, scene) {
  const { layout, palette } = scene;
  if (lane !== layout.lanes[layout.lanes.length - 1]) {
    pen.fillStyle = palette.border;
    pen.fillRect(0, lane.bottom, layout.width, 1);
  }
  lane.seen = 0;
  if (lane.run) drawRows(pen, lane, scene);
  drawHead(pen, lane, scene);
  const why = lane.run ? emptiness(lane) : lane.message;
  if (!why) return;
  pen.font = `12px ${TEXT}`;
  pen.fillStyle = palette.muted;
  pen.fillText(clipped(pen, why, layout.plot), layout.gutter, (lane.rows[lane.rows.length - 1]?.top ?? lane.top + lane.head) + SIZES[0].row / 2);
}

function drawRows(pen, lane, scene) {
  const { layout } = scene;
  pen.save();
  pen.beginPath();
  pen.rect(layout.gutter, lane.top, layout.plot, lane.bottom - lane.top);
  pen.clip();
  for (const row of lane.rows) lane.seen += drawRow(pen, lane, row, scene);
  drawSelected(pen, lane, scene);
  drawEndNote(pen, lane, scene);
  pen.restore();
  drawNames(pen, lane, scene);
}

function drawHead(pen, lane, { layout, palette }) {
  const y = lane.top + HEAD / 2;
  pen.font = `600 10.5px ${TEXT}`;
  const box = Math.max(18, widthOf(pen, lane.key) + 8);
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
  const label = clippedWithin(pen, lane.label, layout.gutter ? (layout.width - box) * LABEL_PART : layout.width - box - 8);
  pen.fillText(label, box + 8, y);
  lane.cut = label !== lane.label;
  const [left, line] = layout.gutter ? [box + 8 + widthOf(pen, label) + 12, y] : [0, y + SECOND_LINE + 2];
  pen.font = `12px ${TEXT}`;
  pen.fillStyle = palette.muted;
  const told = [lane.summary, drawnText(lane), lane.run?.why].filter(Boolean).join(" · ");
  pen.fillText(clipped(pen, told, layout.width - left), left, line);
}

// `14 of 52 slices drawn`; nothing where all are.
function drawnText(lane) {
  if (!lane.run || lane.seen === lane.run.slices) return "";
  return `${lane.seen.toLocaleString("en-US")} of ${lane.run.slices.toLocaleString("en-US")} slices drawn`;
}

function emptiness(lane) {
  if (lane.seen) return "";
  const [from, to] = lane.ends, step = Math.max(1, (to - from) / 100);
  return `Nothing of ${lane.key} in this view: it runs from ${timeText(from, step)} to ${timeText(to, step)}. 0 shows all.`;
}

function drawNames(pen, lane, { layout, palette }) {
  for (const row of lane.rows) {
    const { top, height } = row.named;
    if (!height) continue;
    const line = row.nests && layout.gutter ? row.size.nested : height === SIZES[0].row ? height - 2 : height;
    pen.font = `${row.folded || line < 14 ? 10.5 : 11.5}px ${TEXT}`;
    pen.fillStyle = palette.muted;
    const label = layout.gutter || row.size === SIZES[0] ? row.label : row.all;
    pen.fillText(clipped(pen, label, (layout.gutter || layout.width) - 20), 11, top + line / 2);
    if (row.first) drawTriangle(pen, top + line / 2, row.folded);
  }
}

function drawTriangle(pen, y, folded) {
  pen.beginPath();
  if (folded) [[1, -3.5], [6, 0], [1, 3.5]].forEach(([x, dy]) => pen.lineTo(x, y + dy));
  else [[0, -2], [7, -2], [3.5, 3]].forEach(([x, dy]) => pen.lineTo(x, y + dy));
  pen.fill();
}

// After a short lane's end: how its speed relates to the baseline's.
function drawEndNote(pen, lane, { layout, palette, at }) {
  if (!lane.note || !lane.rows.length) return;
  const row = lane.rows[lane.rows.length - 1];
  const x = at(lane.ends[1]) + 10;
  pen.font = `12px ${TEXT}`;
  if (x < layout.gutter || x + widthOf(pen, lane.note) > layout.width) return;
  pen.fillStyle = palette.muted;
  pen.fillText(lane.note, x, row.top + Math.min(row.height, SIZES[0].row) / 2 - 1);
}

function drawCursor(pen, { view, layout, palette, pointer }) {
  const ns = view.from + ((pointer.x - layout.gutter) / layout.plot) * (view.to - view.from);
  pen.fillStyle = palette.cursor;
  pen.fillRect(Math.round(pointer.x), 20, 1, layout.height - 26);
  pill(pen, timeText(ns, (view.to - view.from) / 200), pointer.x, layout, palette.cursor);
}

function drawRange(pen, { view, layout, palette, at }) {
  const left = Math.max(at(Math.min(...view.range)), layout.gutter), right = Math.min(at(Math.max(...view.range)), layout.width);
  if (right < layout.gutter || left > layout.width) return;
  pen.globalAlpha = 0.14;
  pen.fillStyle = palette.cursor;
  pen.fillRect(left, 22, right - left, layout.height - 28);
  pen.globalAlpha = 1;
  pill(pen, `Δ ${exactText(Math.abs(view.range[1] - view.range[0]))}`, (left + right) / 2, layout, palette.cursor);
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
