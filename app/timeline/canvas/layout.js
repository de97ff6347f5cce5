// Where lanes and their rows lie. A lane is one run: a line of text, then its rows by kind, deeper where slices nest.
// A folded kind is one thin strip, however many tracks it has.

const AXIS = 30, HEAD = 24, LANE_GAP = 10, LAUNCH_ROW = 14, FOLDED_ROW = 14, ROW = 30, NESTED = 18, DEEPEST = 5;
const GUTTER = 104, PHONE = 560;
const KINDS = { annotations: "annotations", ops: "operators", calls: "other calls", launches: "host launches", stream: "streams" };

function layOut(lanes, width, flipped) {
  const gutter = width < PHONE ? 0 : GUTTER;
  let y = AXIS;
  const placed = lanes.map((lane) => {
    const top = y;
    y += HEAD;
    const rows = lane.run ? rowsOf(lane, flipped) : [];
    for (const row of rows) {
      row.top = y;
      y += row.height;
    }
    if (!rows.length) y += ROW;
    y += LANE_GAP;
    return { ...lane, top, rows, bottom: y - LANE_GAP / 2 };
  });
  return { lanes: placed, gutter, width, height: y, plot: Math.max(1, width - gutter) };
}

function rowsOf(lane, flipped) {
  const rows = [];
  for (const kind of Object.keys(KINDS)) {
    const indices = [...lane.run.tracks.keys()].filter((i) => lane.run.tracks[i].kind === kind);
    if (!indices.length) continue;
    const label = indices.length > 1 ? `${indices.length} ${kind === "stream" ? "streams" : `× ${KINDS[kind]}`}` : lane.run.tracks[indices[0]].name;
    if (isFolded(lane, kind, flipped)) rows.push({ kind, label, tracks: indices, folded: true, height: FOLDED_ROW, first: true });
    else rows.push(...indices.map((i, at) => openRow(lane.run.tracks[i], i, at === 0)));
  }
  return rows;
}

function openRow(track, index, first) {
  const nests = track.depth > 1;
  const height = track.kind === "launches" ? LAUNCH_ROW : nests ? NESTED * Math.min(track.depth, DEEPEST) + 4 : ROW;
  return { kind: track.kind, label: track.name, tracks: [index], nests, folded: false, height, first };
}

// Rows without work of their own begin folded; `flipped` holds those that are not as they began.
function isFolded(lane, kind, flipped) {
  return flipped.has(`${lane.key}.${kind}`) === lane.run.main.includes(kind);
}

// The box of one slice within its row: [y, height].
function sliceBox(row, depth) {
  if (row.folded) return [row.top + 4, 6];
  if (row.kind === "launches") return [row.top + 4, 7];
  if (row.nests) return [row.top + NESTED * Math.min(depth, DEEPEST - 1), NESTED - 2];
  return [row.top + 2, ROW - 6];
}

// What is nested in a folded row is not drawn; what overlaps on a stream is.
function isHidden(row, band) {
  return row.folded && band.depth > 0 && row.kind !== "stream";
}

function rowOf(lane, track) {
  return lane.rows.find((row) => row.tracks.includes(track));
}
