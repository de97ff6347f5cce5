// The binary columns of one run (see encode.py), as typed arrays over the received buffer.

const ARRAYS = { f8: Float64Array, u4: Uint32Array, i4: Int32Array, u2: Uint16Array, u1: Uint8Array };

function readColumns(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const run = { ...header };
  for (const place of header.columns) {
    run[place.name] = new ARRAYS[place.type](buffer, 4 + length + place.offset, place.count);
  }
  for (const name of ["stages", "cause"]) run[name] ??= new Uint8Array(run.start.length);
  run.bands = bandsOf(run);
  run.reach = reachOf(run);
  run.work = workTime(run);
  run.extent = [run.ends?.[0] ?? 0, run.ends?.[1] ?? 0];
  for (let i = 0; i < run.start.length; i++) {
    if (run.start[i] < run.extent[0]) run.extent[0] = run.start[i];
    if (run.reach[i] > run.extent[1]) run.extent[1] = run.reach[i];
  }
  return run;
}

// Slices come ordered by track, depth and start: a band is the stretch of one level of one track.
function bandsOf(run) {
  const bands = run.tracks.map(() => []);
  for (let i = 0; i < run.start.length; i++) {
    const own = bands[run.track[i]], last = own[own.length - 1];
    if (last && last.depth === run.depth[i]) last.to = i + 1;
    else own.push({ depth: run.depth[i], from: i, to: i + 1 });
  }
  return bands;
}

// The latest end so far within each band. It never falls, so the first slice that a view shows is found by halving,
// also where slices of a stream overlap.
function reachOf(run) {
  const reach = new Float64Array(run.start.length);
  for (const band of run.bands.flat()) {
    let latest = -Infinity;
    for (let i = band.from; i < band.to; i++) reach[i] = latest = Math.max(latest, run.start[i] + run.duration[i]);
  }
  return reach;
}

// The indices [first, end) of a band that may touch the span.
function within(run, band, from, to) {
  return [firstAtLeast(run.reach, from, band.from, band.to), firstAtLeast(run.start, to, band.from, band.to)];
}

function firstAtLeast(sorted, value, low, high) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The sum of the device's slices (on a CPU: of the outermost operators), for shares.
function workTime(run) {
  let sum = 0;
  for (const [index, track] of run.tracks.entries()) {
    if (track.kind !== run.main[0]) continue;
    for (const band of run.bands[index]) {
      for (let i = band.from; isWork(run, band.depth) && i < band.to; i++) sum += run.busy ? run.busy[i] : run.duration[i];
    }
  }
  return sum;
}

// Of operators the outermost; what overlaps on a stream all works.
function isWork(run, depth) {
  return depth === 0 || run.main[0] === "stream";
}

// How many slices column `i` stands for: one, unless the server merged them.
function countOf(run, i) {
  return run.count ? run.count[i] : 1;
}

function countIn(run, first, end) {
  if (!run.count) return Math.max(0, end - first);
  let sum = 0;
  for (let i = first; i < end; i++) sum += run.count[i];
  return sum;
}

// Rows of the columns change when finer ones arrive; track and start stay.
function findSlice(run, track, start) {
  for (const band of run.bands[track] ?? []) {
    const i = firstAtLeast(run.start, start - 0.5, band.from, band.to);
    if (i < band.to && Math.abs(run.start[i] - start) < 0.5) return i;
  }
  return -1;
}

// Another route of the same run: `sibling("api/v1/runs/3/timeline?token=x", "range", { from: 1 })`.
function sibling(url, name, query) {
  const [path, told] = url.split("?");
  const parameters = new URLSearchParams(told);
  for (const [key, value] of Object.entries(query)) parameters.set(key, value);
  const text = parameters.toString();
  return path + (name ? `/${name}` : "") + (text ? `?${text}` : "");
}
