// Text on a canvas: measured once per font and string, since measuring costs more than drawing.

const TEXT = "Inter, sans-serif", MONO = "'JetBrains Mono', monospace", MOST_MEASURED = 20_000;
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
  while (length > 1 && widthOf(pen, `${text.slice(0, length)}…`) > room) length--;
  return length > 1 ? `${text.slice(0, length)}…` : "";
}
