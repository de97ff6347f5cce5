// A pen that writes SVG where the canvas' own paints: as much of CanvasRenderingContext2D as the drawing uses, so that
// both pictures come from the same code. Text is measured by a real pen.

const FONT = /^(?:(\d+) )?([\d.]+)px (.+)$/, MIDDLE_EM = 0.36;
const PEN = { fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, globalAlpha: 1, font: "10px sans-serif", textAlign: "left", dash: "" };

class VectorPen {
  constructor(measuring) {
    Object.assign(this, PEN, { measuring, defs: [], body: [], saved: [], clips: 0, shapes: 0 });
    this.beginPath();
  }

  measureText(text) {
    this.measuring.font = this.font;
    return this.measuring.measureText(text);
  }

  hatch(colour, falling) {
    const id = `hatch${this.defs.length}`;
    this.defs.push(`<pattern id="${id}" patternUnits="userSpaceOnUse" width="${HATCH}" height="${HATCH}"><path d="${
      hatchLines(falling).map(([x, y, to, down]) => `M${x} ${y}L${to} ${down}`).join("")}" stroke="${colour}" stroke-width="1.2"/></pattern>`);
    return `url(#${id})`;
  }

  save() {
    const { fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, dash, clips } = this;
    this.saved.push({ fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, dash, clips });
  }

  restore() {
    const open = this.clips;
    Object.assign(this, this.saved.pop());
    this.body.push("</g>".repeat(open - this.clips));
  }

  clip() {
    const id = `clip${this.defs.length}`;
    this.defs.push(`<clipPath id="${id}">${this.outline()}/></clipPath>`);
    this.body.push(`<g clip-path="url(#${id})">`);
    this.clips++;
  }

  setLineDash(lengths) {
    this.dash = lengths.join(" ");
  }

  beginPath() {
    Object.assign(this, { box: null, path: "" });
  }

  rect(x, y, width, height) {
    this.roundRect(x, y, width, height, 0);
  }

  roundRect(x, y, width, height, radius) {
    this.box = `x="${short(x)}" y="${short(y)}" width="${short(Math.max(width, 0))}" height="${short(height)}"${radius ? ` rx="${radius}"` : ""}`;
  }

  moveTo(x, y) {
    this.path += `M${short(x)} ${short(y)}`;
  }

  lineTo(x, y) {
    this.path += `${this.path ? "L" : "M"}${short(x)} ${short(y)}`;
  }

  bezierCurveTo(...points) {
    this.path += `C${points.map(short).join(" ")}`;
  }

  outline() {
    return this.box ? `<rect ${this.box}` : `<path d="${this.path}"`;
  }

  fill() {
    this.put(`${this.outline()} fill="${this.fillStyle}"`);
  }

  stroke() {
    const dash = this.dash && ` stroke-dasharray="${this.dash}"`;
    this.put(`${this.outline()} fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}"${dash}`);
  }

  fillRect(...box) {
    this.beginPath();
    this.rect(...box);
    this.fill();
  }

  strokeRect(...box) {
    this.beginPath();
    this.rect(...box);
    this.stroke();
  }

  put(shape) {
    this.shapes++;
    this.body.push(`${shape}${this.globalAlpha < 1 ? ` opacity="${this.globalAlpha}"` : ""}/>`);
  }

  // `dominant-baseline` is not drawn alike everywhere: the text is moved instead. Its width is told, since whoever opens
  // the file may have other fonts.
  fillText(text, x, y) {
    const [, weight, size, family] = FONT.exec(this.font);
    const anchor = this.textAlign === "center" ? ` text-anchor="middle"` : "", width = short(widthOf(this, text)), alpha = this.globalAlpha < 1 ? ` opacity="${this.globalAlpha}"` : "";
    this.body.push(`<text x="${short(x)}" y="${short(y + MIDDLE_EM * size)}" font-family="${markup(family)}" font-size="${size}"${
      weight ? ` font-weight="${weight}"` : ""} fill="${this.fillStyle}"${anchor}${alpha} textLength="${width}" lengthAdjust="spacingAndGlyphs" xml:space="preserve">${markup(text)}</text>`);
  }

  document(width, height, title, description) {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${markup(title)}</title>
<desc>${markup(description)}</desc>
<defs>${this.defs.join("")}</defs>
${this.body.join("\n")}
</svg>
`;
  }
}

function short(number) {
  return Number(number.toFixed(2));
}

// Names come from files of anyone, and XML knows neither control characters nor halves of surrogate pairs.
function markup(text) {
  const told = text.replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD");
  return told.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
