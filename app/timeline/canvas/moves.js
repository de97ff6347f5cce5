// The view and how it moves: in ns, shared by all lanes. A chart is one, and draws it.

const SHORTEST_NS = 50, PAST_EDGE = 0.5, LEAST_SEEN_PX = 24;

class Moves {
  time(x) {
    return this.view.from + ((x - this.layout.gutter) / this.layout.plot) * (this.view.to - this.view.from);
  }

  whole() {
    const ends = this.lanes.filter((lane) => lane.run).map((lane) => lane.ends);
    if (!ends.length) return [0, 1000];
    const [first, last] = [Math.min(0, ...ends.map((e) => e[0])), Math.max(1, ...ends.map((e) => e[1]))];
    return [first - (last - first) * 0.005, last + (last - first) * 0.015];
  }

  // The work, and whatever the host did before and after it: as far as one can go.
  bounds() {
    const ends = [this.whole(), ...this.lanes.filter((lane) => lane.whole).map((lane) => lane.whole.extent)];
    return [Math.min(...ends.map((e) => e[0])), Math.max(...ends.map((e) => e[1]))];
  }

  show(from, to, fitted = false) {
    const [first, last] = this.bounds();
    const length = Math.min(Math.max(to - from, SHORTEST_NS), last - first);
    const middle = (from + to) / 2;
    const start = Math.min(Math.max(middle - length / 2, first - length * PAST_EDGE), last - length * (1 - PAST_EDGE));
    Object.assign(this.view, { from: start, to: start + length });
    this.fitted = fitted;
    this.refreshHit();
    this.redraw();
  }

  zoom(factor) {
    const { from, to } = this.view;
    const centre = this.pointer.x === null ? this.middle() : this.time(this.pointer.x);
    const [first, last] = this.bounds();
    if ((to - from) * factor >= last - first) this.show(first, last, `${this.whole()}` === `${[first, last]}`);
    else this.show(centre - (centre - from) * factor, centre + (to - centre) * factor);
    this.settle();
  }

  // Of the selected slice, where that is in view.
  middle() {
    const { from, to } = this.view, lane = this.selected && this.lane(this.selected.lane);
    const i = lane?.run ? findSlice(lane.run, this.selected.track, this.selected.start) : -1;
    const ns = i < 0 ? NaN : lane.run.start[i] + lane.run.duration[i] / 2;
    return ns > from && ns < to ? ns : (from + to) / 2;
  }

  pan(part) {
    const shift = (this.view.to - this.view.from) * part;
    this.show(this.view.from + shift, this.view.to + shift);
    this.settle();
  }

  fit(settles = true) {
    this.show(...this.whole(), true);
    if (settles) this.settle();
  }

  // Bring a slice into view, and near enough to be seen.
  reveal(start, end) {
    const { from, to } = this.view, scale = this.layout.plot / (to - from);
    if (start >= from && end <= to && (end - start) * scale >= LEAST_SEEN_PX) return;
    const length = (end - start) * scale >= LEAST_SEEN_PX ? to - from : Math.max(end - start, 1) * 8;
    this.show((start + end - length) / 2, (start + end + length) / 2);
  }

  // As near as it is: a walk from slice to slice keeps the zoom.
  bring(start, end) {
    const { from, to } = this.view;
    if (end >= from && start <= to) return;
    const middle = (start + Math.min(end, start + to - from)) / 2;
    this.show(middle - (to - from) / 2, middle + (to - from) / 2);
  }

  drag(start, x) {
    const shift = ((start.x - x) / this.layout.plot) * (start.to - start.from);
    this.show(start.from + shift, start.to + shift);
  }

  pinch(start, touches) {
    const [one, other] = [...touches.values()].map((x) => (x - this.layout.gutter) / this.layout.plot);
    if (other === undefined || Math.abs(one - other) < 0.01) return;
    const scale = (start.one - start.other) / (one - other);
    this.show(start.one - one * scale, start.one + (1 - one) * scale);
  }
}
