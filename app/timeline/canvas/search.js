// Search by name: which names are lit, where they are, and the way from one to the next.

class Search {
  constructor() {
    this.query = "";
    this.lit = new Map();
    this.places = [];
    this.total = 0;
    this.at = -1;
  }

  // Names are few, slices many: each name is matched once, and slices look theirs up.
  find(query, lanes) {
    this.query = query;
    this.at = -1;
    this.lit = new Map(query ? lanes.filter((lane) => lane.run).map((lane) => [lane.run, litNames(lane.run, query)]) : []);
    this.places = query ? lanes.flatMap((lane) => (lane.run ? placesOf(lane, this.lit.get(lane.run)) : [])) : [];
    this.merged = lanes.some((lane) => lane.run?.hits);
    this.total = lanes.reduce((sum, lane) => sum + (lane.run?.hits ? lane.run.hits_in_all : 0), 0);
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
  const { run } = lane, found = [];
  for (let i = 0; i < run.start.length; i++) if (isLit(run, lit, i)) found.push(i);
  found.sort((one, other) => run.start[one] - run.start[other]);
  return found.map((i) => ({ lane: lane.key, track: run.track[i], start: run.start[i], end: run.start[i] + run.duration[i], merged: Boolean(run.hits) }));
}
