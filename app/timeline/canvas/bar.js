// The bar over the canvas: search, rows to fold, alignment, export.

class Bar {
  constructor(root, chart) {
    this.chart = chart;
    const find = (name) => root.querySelector(name);
    [this.input, this.told, this.folds, this.align, this.files] = [".find", "output", ".folds", ".align", ".files"].map(find);
    [this.previous, this.next] = [find(".previous"), find(".next")];
    this.input.addEventListener("input", () => chart.search(this.input.value));
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.previous.addEventListener("click", () => chart.step(-1));
    this.next.addEventListener("click", () => chart.step(1));
    this.align.addEventListener("change", () => chart.alignBy(this.align.value));
    this.menu(root.querySelector("details"));
    find(".picture").addEventListener("click", () => savePicture(chart));
    find(".vector").addEventListener("click", () => saveVector(chart));
  }

  // As menus do, it closes with Esc and where the focus goes elsewhere.
  menu(details) {
    details.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !details.open) return;
      event.stopPropagation();
      details.open = false;
      details.querySelector("summary").focus();
    });
    details.addEventListener("focusout", (event) => {
      if (!details.contains(event.relatedTarget)) details.open = false;
    });
  }

  focus() {
    this.input.focus();
    this.input.select();
  }

  key(event) {
    event.stopPropagation();
    if (event.key === "Enter") this.chart.step(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") {
      this.chart.search("");
      this.chart.canvas.focus({ preventScroll: true });
    } else return;
    event.preventDefault();
  }

  update({ finder, align, lanes, flipped, words }) {
    for (const [i, text] of words.entries()) if (this.align.options[i].text !== text) this.align.options[i].text = text;
    if (this.input.value !== finder.query) this.input.value = finder.query;
    this.told.textContent = finder.text();
    this.previous.disabled = this.next.disabled = !finder.places.length;
    this.align.value = align;
    this.showFolds(lanes.filter((lane) => lane.run), flipped);
    this.showFiles(lanes.filter((lane) => lane.run));
  }

  // One switch for each kind of row; it folds or opens that kind in every lane.
  showFolds(lanes, flipped) {
    const kinds = Object.keys(KINDS).filter((kind) => lanes.some((lane) => lane.run.tracks.some((track) => track.kind === kind)));
    const open = kinds.map((kind) => lanes.some((lane) => !isFolded(lane, kind, flipped)));
    const state = kinds.join() + open.join();
    if (state === this.state) return;
    this.state = state;
    const focused = this.folds.getRootNode().activeElement?.dataset?.kind;
    this.folds.replaceChildren(...kinds.map((kind, i) => {
      const button = element("button", { type: "button", "aria-pressed": String(open[i]), title: `${open[i] ? "Fold" : "Open"} ${KINDS[kind]} in all lanes` }, KINDS[kind]);
      button.dataset.kind = kind;
      button.addEventListener("click", () => this.chart.foldAll(kind, open[i]));
      return button;
    }));
    this.folds.querySelector(`[data-kind="${focused}"]`)?.focus();
  }

  showFiles(lanes) {
    const state = lanes.map((lane) => lane.url).join();
    if (state === this.listed) return;
    this.listed = state;
    this.files.replaceChildren(...lanes.map((lane) => element("li", {}, `${lane.key} ${lane.label}: `,
      element("a", { href: sibling(lane.url, "slices.csv", {}), download: "" }, "slices as CSV"), " · ",
      element("a", { href: sibling(lane.url, "chrome.json", {}), download: "" }, "Chrome JSON, for Perfetto"))));
  }
}
