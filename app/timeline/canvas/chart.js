// The chart: lanes, the view that they share, and what the pointer is over. It outlives reruns of the page.

const SHORTEST_NS = 50, SETTLE_MS = 350, PAST_EDGE = 0.5, WHOLE = "whole";

class Chart {
  constructor(root) {
    this.root = root;
    this.canvas = root.querySelector("canvas");
    this.tip = root.querySelector(".tip");
    this.pen = this.canvas.getContext("2d");
    this.runs = new Map();
    this.lanes = [];
    this.view = { from: 0, to: 1, measured: null };
    this.pointer = { x: null, hit: null };
    this.fitted = true;
    this.unheard = [];
    listen(this.canvas, this);
    new ResizeObserver(() => this.resize()).observe(root);
    document.fonts.ready.then(() => this.redraw());
  }

  update(data, write) {
    this.write = write;
    this.palette = makePalette(this.pen, isDark(this.root));
    this.canvas.setAttribute("aria-label", data.label);
    this.follow(data.zoom ?? WHOLE);
    const keys = data.lanes.map((lane) => lane.url).join();
    this.asked = data.lanes;
    if (keys !== this.keys) this.load(keys);
    this.arrange();
  }

  // The address as the page knows it: an echo of what was written here, or news (it was opened, or a step back).
  follow(told) {
    const echo = this.unheard.indexOf(told);
    if (echo >= 0) this.unheard.splice(0, echo + 1);
    else if (told !== this.told) this.open(told);
    this.told = told;
  }

  // Before the runs are read, the view waits for them; later the component's state has to hear of it too.
  open(told) {
    clearTimeout(this.timer);
    this.written = told;
    this.wanted = parseZoom(told);
    if (!this.canvas.dataset.ready) return;
    if (this.wanted) this.show(...this.wanted);
    else this.fit(false);
    this.wanted = null;
    this.timer = setTimeout(() => this.write("view", told));
  }

  async load(keys) {
    this.keys = keys;
    await Promise.all(this.asked.map((lane) => this.fetchRun(lane.url)));
    if (this.keys !== keys) return;
    this.arrange();
    if (this.wanted) [this.view.from, this.view.to, this.fitted] = [...this.wanted, false];
    else if (this.fitted) this.fit(false);
    this.wanted = null;
    this.canvas.dataset.ready = keys;
    this.redraw();
  }

  async fetchRun(url) {
    if (this.runs.get(url)?.start) return;
    try {
      const answer = await fetch(url, { credentials: "same-origin" });
      this.runs.set(url, answer.ok ? readColumns(await answer.arrayBuffer()) : { message: await refusal(answer) });
    } catch (error) {
      this.runs.set(url, { message: `The server does not answer: ${error.message}` });
    }
  }

  arrange() {
    this.lanes = this.asked.map((lane) => {
      const run = this.runs.get(lane.url);
      const empty = run && run.start && !run.start.length;
      const message = empty ? "This trace has no slices to draw." : (run?.message ?? "Reading the timeline …");
      return { ...lane, run: run?.start?.length ? run : null, message };
    });
    this.resize();
  }

  resize() {
    const width = this.root.clientWidth;
    if (!width) return;
    this.layout = layOut(this.lanes, width);
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(this.layout.height * ratio);
    this.canvas.style.height = `${this.layout.height}px`;
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.redraw(true);
  }

  redraw(now = false) {
    const draw = () => {
      this.frame = null;
      if (this.layout) drawTimeline(this.pen, this.view, this.layout, this.palette, this.pointer);
    };
    if (now) draw();
    else this.frame ??= requestAnimationFrame(draw);
  }

  time(x) {
    return this.view.from + ((x - this.layout.gutter) / this.layout.plot) * (this.view.to - this.view.from);
  }

  whole() {
    const ends = this.lanes.filter((lane) => lane.run).map((lane) => extent(lane.run));
    if (!ends.length) return [0, 1000];
    const [first, last] = [Math.min(...ends.map((e) => e[0])), Math.max(...ends.map((e) => e[1]))];
    return [first - (last - first) * 0.005, last + (last - first) * 0.015];
  }

  show(from, to, fitted = false) {
    const [first, last] = this.whole();
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
    const centre = this.pointer.x === null ? (from + to) / 2 : this.time(this.pointer.x);
    this.show(centre - (centre - from) * factor, centre + (to - centre) * factor);
    this.settle();
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

  measure(from, to) {
    this.view.measured = [this.time(from), this.time(to)];
    this.redraw();
  }

  clear() {
    this.view.measured = null;
    this.leave();
  }

  point(x, y, dragging) {
    Object.assign(this.pointer, { x, y, hit: dragging ? null : hitAt(this, x, y) });
    showTip(this.tip, this.pointer, this.layout);
    this.redraw();
  }

  refreshHit() {
    if (this.pointer.hit) this.point(this.pointer.x, this.pointer.y, false);
  }

  leave() {
    Object.assign(this.pointer, { x: null, hit: null });
    this.tip.hidden = true;
    this.redraw();
  }

  // The address follows the view once it rests.
  settle() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const zoom = this.fitted ? WHOLE : `${(this.view.from / 1e3).toFixed(2)}~${(this.view.to / 1e3).toFixed(2)}`;
      if (zoom === this.written) return;
      this.written = zoom;
      this.unheard.push(zoom);
      this.write("view", zoom);
    }, SETTLE_MS);
  }
}

async function refusal(answer) {
  return answer.status === 404 ? "No timeline is stored for this run." : `The timeline could not be read (${answer.status}).`;
}

// `156.67~775.59`, in µs.
function parseZoom(text) {
  const ends = /^(-?\d+(?:\.\d+)?)~(-?\d+(?:\.\d+)?)$/.exec(text ?? "");
  if (!ends) return null;
  const [from, to] = [Number(ends[1]) * 1e3, Number(ends[2]) * 1e3];
  return to > from ? [from, to] : null;
}
