// Where lanes and their rows lie. A lane is one run: its head, then its rows by kind, deeper where slices nest. A folded
// kind is one thin strip, however many tracks it has; one with very many rows has them closer.

const AXIS = 30, HEAD = 24, SECOND_LINE = 16, CAPTION = 15, LANE_GAP = 10, FOLDED_ROW = 14, DEEPEST = 5;
const GUTTER = 104, PHONE = 560;
const SIZES = [
  { row: 30, nested: 18, launches: 14, up_to: 360 },
  { row: 18, nested: 13, launches: 10, up_to: 600 },
  { row: 12, nested: 8, launches: 8, up_to: Infinity },
];
const KINDS = { annotations: "annotations", ops: "operators", calls: "other calls", launches: "host launches", stream: "streams" };

// Where there is no room for a gutter, names stand over their rows, and a lane's figures under its name.
function layOut(lanes, width, flipped) {
  const gutter = width < PHONE ? 0 : GUTTER, head = gutter ? HEAD : HEAD + SECOND_LINE;
  let y = AXIS;
  const placed = lanes.map((lane) => {
    const top = y;
    y += head;
    const rows = lane.run ? rowsOf(lane, flipped) : [];
    for (const row of rows) {
      row.named = { top: y, height: gutter ? row.height : row.first || row.size === SIZES[0] ? CAPTION : 0 };
      if (!gutter) y += row.named.height;
      row.top = y;
      y += row.height;
    }
    if (!rows.length) y += SIZES[0].row;
    y += LANE_GAP;
    return { ...lane, top, head, rows, bottom: y - LANE_GAP / 2 };
  });
  return { lanes: placed, gutter, width, height: y, plot: Math.max(1, width - gutter) };
}

function rowsOf(lane, flipped) {
  const rows = [], { tracks } = lane.run;
  for (const kind of Object.keys(KINDS)) {
    const indices = [...tracks.keys()].filter((i) => tracks[i].kind === kind);
    if (!indices.length) continue;
    const all = `${indices.length} ${kind === "stream" ? "streams" : `× ${KINDS[kind]}`}`, folded = isFolded(lane, kind, flipped);
    const size = folded ? SIZES[0] : SIZES.find((one) => indices.reduce((sum, i) => sum + heightOf(tracks[i], one), 0) <= one.up_to);
    if (folded) rows.push({ kind, size, folded, label: indices.length > 1 ? all : tracks[indices[0]].name, tracks: indices, height: FOLDED_ROW, first: true });
    else rows.push(...labelsOf(indices.map((i) => tracks[i].name)).map((label, at) => openRow(tracks[indices[at]], indices[at], { size, label, all, first: at === 0 })));
  }
  return rows;
}

function openRow(track, index, known) {
  return { kind: track.kind, full: track.name, tracks: [index], nests: track.depth > 1, folded: false, height: heightOf(track, known.size), ...known };
}

function heightOf(track, size) {
  if (track.kind === "launches") return size.launches;
  return track.depth > 1 ? size.nested * Math.min(track.depth, DEEPEST) + 4 : size.row;
}

// `python (7) · thread 7` and `python (7) · thread 9` differ in their ends alone.
function labelsOf(names) {
  const ends = names.map((name) => name.split(" · ").pop());
  return new Set(ends).size === names.length ? ends : names;
}

// Rows without work of their own begin folded; `flipped` holds those that are not as they began.
function isFolded(lane, kind, flipped) {
  return flipped.has(`${lane.key}.${kind}`) === lane.run.main.includes(kind);
}

// The box of one slice within its row: [y, height].
function sliceBox(row, depth) {
  const { size } = row;
  if (row.folded) return [row.top + 4, 6];
  if (row.kind === "launches") return [row.top + Math.round(size.launches / 4), Math.round(size.launches / 2)];
  if (row.nests) return [row.top + size.nested * Math.min(depth, DEEPEST - 1), size.nested - 2];
  return [row.top + 2, size.row - (size === SIZES[0] ? 6 : 4)];
}

// What is nested in a folded row is not drawn; what overlaps on a stream is.
function isHidden(row, band) {
  return row.folded && band.depth > 0 && row.kind !== "stream";
}

function rowOf(lane, track) {
  return lane.rows.find((row) => row.tracks.includes(track));
}

// The row whose name lies at the point.
function namedAt({ gutter, lanes }, x, y) {
  if (gutter && x >= gutter) return null;
  const within = ({ top, height }) => y >= top && y < top + height;
  for (const lane of lanes) {
    const row = lane.rows.find((one) => within(one.named));
    if (row) return { lane, row };
  }
  return null;
}
