// The view as text, for the address and for links: `156.67~775.59;a=start;f=A.ops;r=1.000~2.500;s=A.1.4200;q=flash`.
// Times are in µs, a selected slice's start in ns. What is usual is left out; the search comes last, it may hold any
// letter. Whatever cannot be read is passed over: the address is anyone's.

const WHOLE = "whole", SPAN = /^(-?\d+(?:\.\d+)?)~(-?\d+(?:\.\d+)?)$/, LONGEST_QUERY = 200;

function writeLink({ fitted, view, align, flipped, selected, query }) {
  const parts = [fitted ? "" : spanText(view.from, view.to, 2)];
  if (align !== "step") parts.push(`a=${align}`);
  if (flipped.size) parts.push(`f=${[...flipped].sort().join()}`);
  if (view.range) parts.push(`r=${spanText(Math.min(...view.range), Math.max(...view.range), 3)}`);
  if (selected) parts.push(`s=${selected.lane}.${selected.track}.${Math.round(selected.start)}`);
  if (query) parts.push(`q=${query}`);
  return parts.length === 1 ? parts[0] || WHOLE : parts.join(";");
}

function readLink(text) {
  const [told, query = ""] = cutAt(text ?? "", ";q=");
  const [zoom, ...rest] = told.split(";");
  const parts = Object.fromEntries(rest.map((part) => cutAt(part, "=")));
  const flipped = (parts.f ?? "").split(",").filter((one) => /^\w+\.\w+$/.test(one));
  return {
    zoom: readSpan(zoom), align: parts.a === "start" ? "start" : "step", flipped: new Set(flipped),
    range: readSpan(parts.r), selected: readSelected(parts.s), query: query.slice(0, LONGEST_QUERY),
  };
}

function cutAt(text, mark) {
  const place = text.indexOf(mark);
  return place < 0 ? [text] : [text.slice(0, place), text.slice(place + mark.length)];
}

function spanText(from, to, decimals) {
  return `${(from / 1e3).toFixed(decimals)}~${(to / 1e3).toFixed(decimals)}`;
}

function readSpan(text) {
  const ends = SPAN.exec(text ?? "");
  if (!ends) return null;
  const [from, to] = [Number(ends[1]) * 1e3, Number(ends[2]) * 1e3];
  return to > from ? [from, to] : null;
}

function readSelected(text) {
  const found = /^(\w+)\.(\d+)\.(-?\d+)$/.exec(text ?? "");
  return found ? { lane: found[1], track: Number(found[2]), start: Number(found[3]) } : null;
}
