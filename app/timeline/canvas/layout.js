// Where lanes and their rows lie. A lane is one run: a line of text, then a row per track, deeper where slices nest.

const AXIS = 30, HEAD = 24, LANE_GAP = 10, LAUNCH_ROW = 14, ROW = 30, NESTED = 18, DEEPEST = 5, GUTTER = 104, PHONE = 560;

function layOut(lanes, width) {
  const gutter = width < PHONE ? 0 : GUTTER;
  let y = AXIS;
  const placed = lanes.map((lane) => {
    const top = y;
    y += HEAD;
    const rows = (lane.run ? lane.run.tracks : []).map((track, index) => {
      const row = { track, index, top: y, height: rowHeight(track) };
      y += row.height;
      return row;
    });
    if (!rows.length) y += ROW;
    y += LANE_GAP;
    return { ...lane, top, rows, bottom: y - LANE_GAP / 2 };
  });
  return { lanes: placed, gutter, width, height: y, plot: Math.max(1, width - gutter) };
}

function rowHeight(track) {
  if (track.kind === "launches") return LAUNCH_ROW;
  return track.depth > 1 ? NESTED * Math.min(track.depth, DEEPEST) + 4 : ROW;
}

// The box of one slice within its row: [y, height].
function sliceBox(row, depth) {
  if (row.track.kind === "launches") return [row.top + 4, 7];
  if (row.track.depth > 1) return [row.top + NESTED * Math.min(depth, DEEPEST - 1), NESTED - 2];
  return [row.top + 2, ROW - 6];
}
