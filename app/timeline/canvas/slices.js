// The slices of one row: the hot loop. What is thinner than a pixel shares one with its neighbours; the longest of
// them colours it, and a search hit before any other.

const LABEL_FROM = 34, PAD = 6, LEAST_TEXT = 9;

// How many slices of the row are in view.
function drawRow(pen, lane, row, scene) {
  let seen = 0;
  for (const track of row.tracks) {
    for (const band of lane.run.bands[track]) {
      if (isHidden(row, band)) {
        const [first, end] = within(lane.run, band, scene.view.from, scene.view.to);
        seen += countIn(lane.run, first, end);
      } else seen += drawBand(pen, lane, row, band, scene);
    }
  }
  return seen;
}

function drawBand(pen, lane, row, band, scene) {
  const { view, layout, palette } = scene;
  const { run } = lane, { start, duration } = run;
  const [first, end] = within(run, band, view.from, view.to);
  const scale = layout.plot / (view.to - view.from), origin = layout.gutter - view.from * scale;
  const coarse = scene.coarse ?? 1, pixel = coarse / scale;
  const [y, height] = sliceBox(row, band.depth);
  const lit = scene.lit.get(run);
  const strip = new Strip(pen, y, height);
  let i = first;
  while (i < end) {
    const x = origin + start[i] * scale;
    if (duration[i] >= pixel) {
      const style = lit && !isLit(run, lit, i) ? palette.unlit : styleOf(run, row, i, palette);
      if (duration[i] < 3 * pixel) strip.add(x, duration[i] * scale, style.thin);
      else {
        strip.flush();
        drawSlice(pen, run, i, row, { left: x, right: x + duration[i] * scale, y, height }, style, scene, lit);
      }
      i++;
      continue;
    }
    const until = start[i] + pixel, began = i;
    let best = i;
    for (i++; i < end && start[i] < until && duration[i] < pixel; i++) {
      if (lit && isLit(run, lit, best) !== isLit(run, lit, i) ? isLit(run, lit, i) : duration[i] > duration[best]) best = i;
    }
    scene.shared += countIn(run, began, i) - 1;
    strip.add(x, coarse, (lit && !isLit(run, lit, best) ? palette.unlit : styleOf(run, row, best, palette)).thin);
  }
  strip.flush();
  return countIn(run, first, end);
}

function styleOf(run, row, i, palette) {
  return row.kind === "launches" || row.kind === "calls" || row.kind === "annotations" ? palette.host : palette.roles[run.names[run.name[i]].role] ?? palette.roles.other;
}

function isLit(run, lit, i) {
  return run.hits ? run.hits[i] > 0 : lit[run.name[i]] === 1;
}

// Neighbouring thin slices of one colour become one rectangle: a software canvas pays by the call.
class Strip {
  constructor(pen, y, height) {
    Object.assign(this, { pen, y, height, left: 0, right: -1, colour: null });
  }

  add(x, width, colour) {
    if (colour === this.colour && x <= this.right + 0.5) {
      this.right = Math.max(this.right, x + width);
      return;
    }
    this.flush();
    this.left = x;
    this.right = x + Math.max(width, 1);
    this.colour = colour;
  }

  flush() {
    if (this.colour === null) return;
    this.pen.fillStyle = this.colour;
    this.pen.fillRect(this.left, this.y, this.right - this.left, this.height);
    this.colour = null;
  }
}

function drawSlice(pen, run, i, row, box, style, scene, lit) {
  const width = box.right - box.left, gap = width > 4 ? 1 : 0;
  const left = Math.max(box.left, -10), right = Math.min(box.right, scene.layout.width + 10);
  if (style.flat || (style.dashed !== undefined && width < 4)) {
    pen.fillStyle = style.thin;
    pen.fillRect(left, box.y, right - left - gap, box.height);
  } else drawBlock(pen, { left, y: box.y, width: right - left - gap, height: box.height }, style, scene.palette);
  if (lit && style !== scene.palette.unlit) {
    pen.fillStyle = scene.palette.ink;
    pen.fillRect(left, box.y + box.height - 2, right - left - gap, 2);
  }
  const named = !row.folded && row.kind !== "launches" && width >= LABEL_FROM && box.height > LEAST_TEXT;
  if (named) drawLabel(pen, run, i, box, style, scene);
}

function drawBlock(pen, box, style, palette) {
  pen.beginPath();
  if (box.width > 6) pen.roundRect(box.left, box.y, box.width, box.height, 2);
  else pen.rect(box.left, box.y, box.width, box.height);
  if (style.dashed !== undefined) {
    pen.fillStyle = palette.ground;
    pen.fill();
  }
  pen.fillStyle = style.fill;
  pen.fill();
  if (!style.edge) return;
  pen.strokeStyle = style.edge;
  pen.lineWidth = 1;
  if (style.dashed) pen.setLineDash([3, 2]);
  pen.stroke();
  if (style.dashed) pen.setLineDash([]);
}

function drawLabel(pen, run, i, box, style, { layout, palette }) {
  const from = Math.max(box.left, layout.gutter) + PAD;
  const room = Math.min(box.right, layout.width) - from - PAD;
  if (room < LABEL_FROM - 2 * PAD) return;
  const size = Math.min(12, box.height - 1), inset = box.height < 16 ? 1 : 3;
  pen.font = `500 ${size}px ${TEXT}`;
  const label = countOf(run, i) > 1 ? `${countOf(run, i).toLocaleString("en-US")} slices` : run.names[run.name[i]].short;
  const name = clipped(pen, label, room);
  if (!name) return;
  const y = box.y + box.height / 2 + 0.5;
  const width = widthOf(pen, name);
  if (style.dashed !== undefined) {
    // A name on a hatch needs ground under it.
    pen.fillStyle = palette.ground;
    pen.fillRect(from - 3, box.y + inset, width + 6, box.height - 2 * inset);
  }
  pen.fillStyle = style.text;
  pen.fillText(name, from, y);
  if (style.dashed !== undefined) return;
  pen.font = `${size}px ${TEXT}`;
  const time = durationText(run.duration[i]);
  if (width + 8 + widthOf(pen, time) <= room) pen.fillText(time, from + width + 8, y);
}
