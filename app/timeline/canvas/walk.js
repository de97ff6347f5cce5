// From slice to slice by keys: along a level of a row, and to the level above or below, nearest in time.

// The levels that are drawn, from top to bottom. What is nested in a folded row has none.
function levelsOf(layout) {
  return layout.lanes.flatMap((lane) => lane.rows.flatMap((row) => row.tracks
    .flatMap((track) => lane.run.bands[track]).filter((band) => !isHidden(row, band)).map((band) => ({ lane, row, band }))));
}

// The slice to select next; null where there is none.
function walk(chart, along, across) {
  const levels = levelsOf(chart.layout), { selected } = chart;
  const lane = selected && chart.lane(selected.lane), i = lane?.run ? findSlice(lane.run, selected.track, selected.start) : -1;
  if (i < 0) return firstInView(levels, chart.view);
  const at = levels.findIndex((level) => level.lane === lane && level.band.from <= i && i < level.band.to);
  const place = at < 0 ? levels.findIndex((level) => level.lane === lane && level.row.tracks.includes(selected.track)) : at;
  if (across) return levels[place + across] ? nearest(levels[place + across], middleOf(lane.run, i, chart.view)) : null;
  const { band } = levels[place], next = at < 0 ? i : i + along;
  return next >= band.from && next < band.to ? { lane, i: next } : null;
}

// The work before whatever else is in view.
function firstInView(levels, { from, to }) {
  for (const wanted of [({ lane, row }) => row.kind === lane.run.main[0], () => true]) {
    for (const { lane, band } of levels.filter(wanted)) {
      const [first, end] = within(lane.run, band, from, to);
      if (first < end) return { lane, i: first };
    }
  }
  return null;
}

function nearest({ lane, band }, ns) {
  const { run } = lane, after = firstAtLeast(run.start, ns, band.from, band.to);
  const away = (i) => Math.max(run.start[i] - ns, ns - run.start[i] - run.duration[i], 0);
  const near = [after - 1, after].filter((i) => i >= band.from && i < band.to);
  return { lane, i: near.reduce((best, i) => (away(i) < away(best) ? i : best)) };
}

// Of as much of the slice as is in view.
function middleOf(run, i, { from, to }) {
  const start = run.start[i], end = start + run.duration[i];
  return end < from || start > to ? (start + end) / 2 : (Math.max(start, from) + Math.min(end, to)) / 2;
}
