// The runs as they were read: each whole or as an overview, and the finest part of a large one that was asked for last.

class Runs {
  constructor() {
    this.whole = new Map();
    this.parts = new Map();
    this.asked = new Map();
  }

  async read(url, query) {
    if (this.whole.get(url)?.start) return;
    this.whole.set(url, await readRun(query ? sibling(url, "", { q: query }) : url, query));
  }

  // True where something finer arrived, and nothing newer was asked for meanwhile.
  async refine(url, window, query) {
    const whole = this.whole.get(url);
    if (!whole?.merged) return false;
    this.asked.set(url, window);
    if (whole.query !== query) this.whole.set(url, await readRun(sibling(url, "", { q: query }), query));
    const [from, to] = [Math.floor(window.from + whole.zero_ns), Math.ceil(window.to + whole.zero_ns)];
    const part = await readRun(sibling(url, "", { from, to, width: window.width, q: query }), query);
    if (!part.start || this.asked.get(url) !== window) return false;
    this.parts.set(url, { ...part, span: [window.from, window.to], slices: whole.slices });
    return true;
  }

  finest(url, view, query) {
    const part = this.parts.get(url);
    return part && part.query === query && part.span[0] <= view.from && part.span[1] >= view.to ? part : this.whole.get(url);
  }
}

async function readRun(url, query) {
  try {
    const answer = await fetch(url, { credentials: "same-origin" });
    if (!answer.ok) return { message: refusal(answer.status) };
    const run = readColumns(await answer.arrayBuffer());
    return { ...run, query, hits_in_all: typeof run.hits_in_all === "number" ? run.hits_in_all : 0 };
  } catch (error) {
    return { message: `The server does not answer: ${error.message}` };
  }
}

async function rangeSection(lane, [one, other]) {
  const from = Math.floor(Math.min(one, other) + lane.run.zero_ns), to = Math.max(from + 1, Math.ceil(Math.max(one, other) + lane.run.zero_ns));
  try {
    const answer = await fetch(sibling(lane.url, "range", { from, to }), { credentials: "same-origin" });
    if (!answer.ok) return element("p", {}, `${lane.key}: ${refusal(answer.status)}`);
    return rangeTable(lane, await answer.json(), to - from, sibling(lane.url, "slices.csv", { from, to }));
  } catch (error) {
    return element("p", {}, `${lane.key}: the server does not answer (${error.message}).`);
  }
}

function refusal(status) {
  return status === 404 ? "No timeline is stored for this run." : `The timeline could not be read (${status}).`;
}
