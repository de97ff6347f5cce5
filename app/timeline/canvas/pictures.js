// The view as a file: the canvas' pixels, or the same drawing as shapes.

const MOST_SHAPES = 20_000, NOTE_LINE = 18;

function savePicture(chart) {
  chart.canvas.toBlob((blob) => save(blob, "fusescope-timelines.png"));
}

function saveVector(chart) {
  save(new Blob([vectorPicture(chart)], { type: "image/svg+xml" }), "fusescope-timelines.svg");
}

// Slices that are too thin share a block; where that leaves too many shapes, wider ones do too. The picture says so.
function vectorPicture(chart) {
  for (let coarse = 1; ; coarse *= 2) {
    const pen = new VectorPen(chart.pen), { width, height } = chart.layout;
    const palette = makePalette(pen, isDark(chart.root));
    const scene = { ...chart.scene(), palette, pointer: { x: null, hit: null }, coarse, shared: 0 };
    drawTimeline(pen, scene);
    if (pen.shapes > MOST_SHAPES && coarse < width) continue;
    const notes = [...chart.layout.lanes.map((lane) => statusText([lane], chart.fitted)), sharedText(scene)].filter(Boolean);
    const all = height + NOTE_LINE * notes.length + 4;
    drawNotes(pen, notes, { top: height, width, palette });
    return pen.document(width, all, chart.canvas.getAttribute("aria-label"), notes.join(" "));
  }
}

function sharedText({ shared, coarse }) {
  return shared ? `${COUNT(shared)} slices narrower than ${coarse === 1 ? "a pixel" : `${coarse} pixels`} share the block of a longer one` : "";
}

function drawNotes(pen, lines, { top, width, palette }) {
  pen.fillStyle = palette.ground;
  pen.fillRect(0, top, width, NOTE_LINE * lines.length + 4);
  pen.fillStyle = palette.muted;
  pen.font = `12px ${TEXT}`;
  for (const [i, line] of lines.entries()) pen.fillText(line, 0, top + NOTE_LINE * (i + 0.5));
}

function save(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
