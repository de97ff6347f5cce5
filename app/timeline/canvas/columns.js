// The binary columns of one run (see encode.py), as typed arrays over the received buffer.

const ARRAYS = { f8: Float64Array, u4: Uint32Array, i4: Int32Array, u2: Uint16Array, u1: Uint8Array };

function readColumns(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const columns = {};
  for (const place of header.columns) {
    columns[place.name] = new ARRAYS[place.type](buffer, 4 + length + place.offset, place.count);
  }
  return { ...header, ...columns, rows: sliceRows(header.tracks, columns), busy: busyTime(header.tracks, columns) };
}

// The indices of each track's slices, in order of their start.
function sliceRows(tracks, columns) {
  const rows = tracks.map(() => []);
  for (let i = 0; i < columns.track.length; i++) rows[columns.track[i]].push(i);
  return rows;
}

// The sum of the device's slices (on a CPU: of the outermost operators), for shares.
function busyTime(tracks, columns) {
  let sum = 0;
  for (let i = 0; i < columns.track.length; i++) {
    if (tracks[columns.track[i]].kind !== "launches" && columns.depth[i] === 0) sum += columns.duration[i];
  }
  return sum;
}

function extent(run) {
  let first = 0, last = 1;
  for (let i = 0; i < run.start.length; i++) {
    first = Math.min(first, run.start[i]);
    last = Math.max(last, run.start[i] + run.duration[i]);
  }
  return [first, last];
}
