// The chart: lanes, the view that they share, and what is searched, selected and folded. It outlives reruns of the page.

const SETTLE_MS = 350, REFINE_MS = 150, FINER = 3, DRAWN = "fusescope timelines drawn";

class Chart extends Moves {
  constructor(root) {
    super();
    this.root = root;
    this.canvas = root.querySelector("canvas");
    this.tip = root.querySelector(".tip");
    [this.said, this.status, this.about, this.below] = [".said", ".status", ".about", ".below"].map((name) => root.querySelector(name));
    this.pen = this.canvas.getContext("2d", { alpha: false });
    this.runs = new Runs();
    this.finder = new Search();
    this.bar = new Bar(root, this);
    Object.assign(this, { lanes: [], view: { from: 0, to: 1, range: null }, pointer: { x: null, hit: null, named: null } });
    Object.assign(this, { fitted: true, align: "step", flipped: new Set(), selected: null, query: "", unheard: [], words: [] });
    listen(this.canvas, this);
    new ResizeObserver(() => this.resize()).observe(root);
    document.fonts.ready.then(() => (forgetWidths(), this.redraw()));
  }

  update(data, write) {
    this.write = write;
    this.palette = makePalette(this.pen, isDark(this.root));
    this.canvas.setAttribute("aria-label", data.label);
    this.asked = data.lanes;
    this.words = data.words;
    this.follow(data.view ?? WHOLE);
    this.load();
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
    const { zoom, range, ...rest } = readLink(told);
    Object.assign(this, rest);
    Object.assign(this, { wanted: zoom, fitted: !zoom });
    this.view.range = range;
    if (!this.canvas.dataset.ready) return;
    this.timer = setTimeout(() => this.write("view", told));
    this.load(true);
  }

  async load(again = false) {
    const lanes = this.asked.map((lane) => ({ ...lane, url: this.align === "step" ? lane.url : sibling(lane.url, "", { part: "all" }) }));
    const keys = lanes.map((lane) => lane.url).join();
    if (keys === this.keys && !again) return;
    this.keys = keys;
    this.loaded = lanes;
    await Promise.all(lanes.map((lane) => this.runs.read(lane.url, this.query)));
    if (this.keys !== keys) return;
    this.arrange();
    if (this.wanted) this.show(...this.wanted);
    else if (this.fitted) this.fit(false);
    this.wanted = null;
    this.canvas.dataset.ready = keys;
    this.tell();
    performance.mark(DRAWN);
    this.refine();
  }

  arrange() {
    this.lanes = (this.loaded ?? []).map((lane) => {
      const run = this.runs.finest(lane.url, this.view, this.query);
      const message = run?.start && !run.start.length ? run.why : (run?.message ?? "Reading the timeline …");
      const shown = run?.slices ? run : null;
      return { ...lane, run: shown, whole: shown && this.runs.whole.get(lane.url), ends: shown?.ends, message };
    });
    if (this.finder.query !== this.query || !this.lanes.every((lane) => !lane.run || this.finder.lit.has(lane.run))) this.finder.find(this.query, this.lanes);
    this.resize(true);
  }

  resize(anew = false) {
    const width = this.canvas.parentElement.clientWidth;
    if (!width || (!anew && width === this.layout?.width)) return;
    this.layout = layOut(this.lanes, width, this.flipped);
    const ratio = window.devicePixelRatio || 1;
    const size = [Math.round(width * ratio), Math.round(this.layout.height * ratio)];
    if (size[0] !== this.canvas.width || size[1] !== this.canvas.height) {
      [this.canvas.width, this.canvas.height] = size;
      this.canvas.style.height = `${this.layout.height}px`;
    }
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.redraw(true);
  }

  redraw(now = false) {
    const draw = () => {
      this.frame = null;
      if (!this.layout || !this.palette) return;
      drawTimeline(this.pen, this.scene());
    };
    if (now) draw();
    else this.frame ??= requestAnimationFrame(draw);
  }

  scene() {
    const { view, layout, palette, pointer, selected } = this;
    return { view, layout, palette, pointer, selected, lit: this.finder.lit, shared: 0 };
  }

  lane(key) {
    return this.layout.lanes.find((lane) => lane.key === key);
  }

  point(x, y, dragging) {
    Object.assign(this.pointer, { x, y, hit: dragging ? null : hitAt(this, x, y) });
    this.pointer.named = dragging || this.pointer.hit ? null : nameAt(this.layout, x, y);
    this.canvas.style.cursor = this.pointer.named?.row ? "pointer" : "";
    showTip(this.tip, this.pointer, this.layout);
    this.redraw();
  }

  refreshHit() {
    if (this.pointer.hit) this.point(this.pointer.x, this.pointer.y, false);
  }

  leave() {
    Object.assign(this.pointer, { x: null, hit: null, named: null });
    this.tip.hidden = true;
    this.redraw();
  }

  // On a row's name: fold it or open it. On a slice: select it. Elsewhere: select nothing.
  click(x, y) {
    const named = namedAt(this.layout, x, y);
    if (named) return this.fold([`${named.lane.key}.${named.row.kind}`]);
    const hit = hitAt(this, x, y);
    this.select(hit && { lane: hit.lane, track: hit.run.track[hit.slice], start: hit.run.start[hit.slice] });
  }

  select(slice) {
    this.selected = slice;
    this.redraw();
    this.tell();
    this.settle();
  }

  walk(along, across) {
    const found = walk(this, along, across);
    if (!found) return;
    const { run, key } = found.lane, { i } = found;
    this.bring(run.start[i], run.start[i] + run.duration[i]);
    this.select({ lane: key, track: run.track[i], start: run.start[i] });
    this.said.textContent = spokenText(found.lane, i);
  }

  foldSelected() {
    const lane = this.selected && this.lane(this.selected.lane);
    if (!lane?.run) return;
    const { kind } = lane.run.tracks[this.selected.track];
    this.fold([`${lane.key}.${kind}`]);
    this.said.textContent = `${KINDS[kind]} of ${lane.key} ${isFolded(lane, kind, this.flipped) ? "folded" : "opened"}`;
  }

  // The selected slice as the range, or what is in view; `more` lets the range reach to the slice.
  mark(more) {
    const { from, to, range } = this.view, lane = this.selected && this.lane(this.selected.lane);
    const i = lane?.run ? findSlice(lane.run, this.selected.track, this.selected.start) : -1;
    const ends = i < 0 ? [from, to] : [lane.run.start[i], lane.run.start[i] + Math.max(lane.run.duration[i], 1)];
    this.view.range = more && range ? [Math.min(...range, ...ends), Math.max(...range, ...ends)] : ends;
    this.said.textContent = `Range of ${exactText(this.view.range[1] - this.view.range[0])}, listed below`;
    this.redraw();
    this.settle();
  }

  fold(rows) {
    for (const row of rows) if (!this.flipped.delete(row)) this.flipped.add(row);
    this.resize(true);
    this.tell();
    this.settle();
  }

  foldAll(kind, folded) {
    this.fold(this.lanes.filter((lane) => lane.run && isFolded(lane, kind, this.flipped) !== folded).map((lane) => `${lane.key}.${kind}`));
  }

  measure(from, to) {
    this.view.range = [this.time(from), this.time(to)];
    this.redraw();
  }

  search(text) {
    this.query = text.slice(0, LONGEST_QUERY);
    this.finder.find(this.query, this.lanes);
    this.redraw();
    this.bar.update(this);
    this.settle();
  }

  step(direction) {
    const place = this.finder.step(direction);
    if (!place) return;
    const lane = this.lane(place.lane), kind = lane.run.tracks[place.track].kind;
    if (isFolded(lane, kind, this.flipped)) this.fold([`${lane.key}.${kind}`]);
    this.reveal(place.start, place.end);
    this.select(place.merged ? null : { lane: place.lane, track: place.track, start: place.start });
  }

  // Another zero, and more of the recording: the view starts anew, what was selected has another time.
  alignBy(align) {
    Object.assign(this, { align, fitted: true, selected: null });
    this.view.range = null;
    this.load();
    this.tell();
    this.settle();
  }

  clear() {
    Object.assign(this, { selected: null });
    this.view.range = null;
    this.said.textContent = "";
    this.leave();
    if (this.query) this.search("");
    this.tell();
    this.settle();
  }

  // The address and the text below follow the view once it rests.
  settle() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const link = writeLink(this);
      this.tell();
      if (link === this.written) return;
      this.written = link;
      this.unheard.push(link);
      this.write("view", link);
    }, SETTLE_MS);
    clearTimeout(this.refining);
    this.refining = setTimeout(() => this.refine(), REFINE_MS);
  }

  // Of runs too large to be here whole, the server merges the slices of this view.
  async refine() {
    const length = this.view.to - this.view.from, width = Math.round(this.layout.plot * FINER);
    const window = { from: this.view.from - length, to: this.view.to + length, width };
    const news = await Promise.all(this.lanes.map((lane) => lane.run && this.runs.refine(lane.url, window, this.query)));
    if (!news.some(Boolean)) return;
    this.arrange();
    this.tell();
  }

  tell() {
    if (!this.layout) return;
    this.redraw(true); // counts what is in view
    this.bar.update(this);
    const text = statusText(this.layout.lanes, this.fitted);
    if (this.status.textContent !== text) this.status.textContent = text;
    this.tellSelected();
    this.tellRange();
  }

  tellSelected() {
    const lane = this.selected && this.lane(this.selected.lane);
    const i = lane?.run ? findSlice(lane.run, this.selected.track, this.selected.start) : -1;
    this.about.replaceChildren(...(i < 0 ? [] : [sliceFacts(lane, i)]));
  }

  async tellRange() {
    const { range } = this.view;
    const key = range ? `${range}|${this.keys}` : "";
    if (key === this.toldRange) return;
    this.toldRange = key;
    if (!range) return this.below.replaceChildren();
    const sections = await Promise.all(this.lanes.filter((lane) => lane.run).map((lane) => rangeSection(lane, range)));
    if (this.toldRange === key) this.below.replaceChildren(...sections);
  }
}
