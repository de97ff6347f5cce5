// What is pointed at or selected is outlined; a selected launch is tied to what it started, a slice to its launch.

function drawSelected(pen, lane, scene) {
  const { pointer, selected, palette } = scene;
  if (pointer.hit?.lane === lane.key) outline(pen, lane, pointer.hit.slice, scene);
  if (selected?.lane !== lane.key) return;
  const i = findSlice(lane.run, selected.track, selected.start);
  if (i < 0) return;
  pen.strokeStyle = palette.cursor;
  for (const [launch, slice] of ties(lane.run, i)) drawTie(pen, lane, launch, slice, scene);
  outline(pen, lane, i, scene);
}

// Pairs of a launch and a slice: all that it started, and for a slice its own launch.
function ties(run, i) {
  if (run.launch[i] >= 0) return [[run.launch[i], i]];
  const found = [];
  if (run.tracks[run.track[i]].kind !== "launches") return found;
  for (let k = 0; k < run.launch.length; k++) if (run.launch[k] === i) found.push([i, k]);
  return found;
}

function boxOf(lane, i, { at }) {
  const { run } = lane, row = rowOf(lane, run.track[i]);
  if (!row) return null;
  const [y, height] = sliceBox(row, row.folded ? 0 : run.depth[i]);
  const left = at(run.start[i]);
  return { left, y, width: Math.max(at(run.start[i] + run.duration[i]) - left, 1), height };
}

function outline(pen, lane, i, scene) {
  const box = boxOf(lane, i, scene);
  if (!box) return;
  pen.strokeStyle = scene.palette.ink;
  pen.lineWidth = 2;
  pen.strokeRect(box.left, box.y, box.width, box.height);
  pen.lineWidth = 1;
}

function drawTie(pen, lane, launch, slice, scene) {
  const from = boxOf(lane, launch, scene), to = boxOf(lane, slice, scene);
  if (!from || !to) return;
  const [x, y] = [from.left + Math.min(from.width, 6) / 2, from.y + from.height], bend = Math.max(8, (to.y - y) / 2);
  pen.strokeStyle = scene.palette.cursor;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(x, y);
  pen.bezierCurveTo(x, y + bend, to.left, to.y - bend, to.left, to.y);
  pen.stroke();
  pen.lineWidth = 1;
}
