// Text on a canvas: measured once per font and string, since measuring costs more than drawing.

const TEXT = "Inter, Arial, sans-serif", MONO = "'JetBrains Mono', monospace", MOST_MEASURED = 20_000, LEAST_LETTERS = 3;
const measured = new Map();

function widthOf(pen, text) {
  const key = `${pen.font}\n${text}`;
  let width = measured.get(key);
  if (width === undefined) {
    if (measured.size > MOST_MEASURED) measured.clear();
    measured.set(key, (width = pen.measureText(text).width));
  }
  return width;
}

// Fonts that arrive late change every width.
function forgetWidths() {
  measured.clear();
}

function clipped(pen, text, room) {
  if (widthOf(pen, text) <= room) return text;
  // The mean width of its letters tells about where to cut: few tries, and few strings to remember.
  let length = Math.min(text.length - 1, Math.floor((room / widthOf(pen, text)) * text.length));
  while (length >= LEAST_LETTERS && widthOf(pen, `${text.slice(0, length)}…`) > room) length--;
  return length >= LEAST_LETTERS ? `${text.slice(0, length)}…` : "";
}

// Of names that differ at their ends: what is cut is the middle.
function clippedWithin(pen, text, room) {
  if (widthOf(pen, text) <= room) return text;
  let kept = Math.min(text.length - 1, Math.ceil((room / widthOf(pen, text)) * text.length));
  const cut = () => `${text.slice(0, Math.ceil(kept / 2))}…${text.slice(text.length - Math.floor(kept / 2))}`;
  while (kept > 1 && widthOf(pen, cut()) > room) kept--;
  return kept > 1 ? cut() : "";
}
