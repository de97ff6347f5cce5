// Search by name: which names are lit, where they are, and the way from one to the next.

class Search {
  constructor() {
    this.query = "";
    this.lit = new Map();
    this.places = [];
    this.total = 0;
    this.at = -1;
  }

  // Names are few, slices many: each name is matched once, and slices look theirs up. Of a merged run the overview has
  // the places, whatever finer part is drawn.
  find(query, lanes) {
    const drawn = lanes.filter((lane) => lane.run);
    if (query !== this.query) this.at = -1;
    this.query = query;
    this.lit = new Map(query ? drawn.flatMap(({ run, whole }) => [run, whole].map((one) => [one, litNames(one, query)])) : []);
    this.places = query ? drawn.flatMap((lane) => placesOf(lane, this.lit.get(lane.whole))) : [];
    this.merged = drawn.some((lane) => lane.whole.merged);
    this.total = drawn.reduce((sum, { whole }) => sum + (whole.merged ? whole.hits_in_all : 0), 0);
    this.total += this.places.filter((place) => !place.merged).length;
  }

  step(direction) {
    const many = this.places.length;
    if (!many) return null;
    this.at = this.at < 0 ? (direction > 0 ? 0 : many - 1) : (this.at + direction + many) % many;
    return this.places[this.at];
  }

  text() {
    if (!this.query) return "";
    if (!this.total) return "no hits";
    const many = `${this.total.toLocaleString("en-US")} ${this.total === 1 ? "hit" : "hits"}`;
    return this.at < 0 || this.merged ? many : `${(this.at + 1).toLocaleString("en-US")} of ${many}`;
  }
}

function litNames(run, query) {
  const wanted = query.toLowerCase();
  return Uint8Array.from(run.names, (name) => Number(name.full.toLowerCase().includes(wanted) || name.short.toLowerCase().includes(wanted)));
}

// In order of time within each lane; lanes as they lie.
function placesOf(lane, lit) {
  const run = lane.whole, found = [];
  for (let i = 0; i < run.start.length; i++) if (isLit(run, lit, i)) found.push(i);
  found.sort((one, other) => run.start[one] - run.start[other]);
  return found.map((i) => ({ lane: lane.key, track: run.track[i], start: run.start[i], end: run.start[i] + run.duration[i], merged: run.merged }));
}
