// Mouse, touch and keys, as moves of the view. A chart has `view`, `layout`, `pointer` and the methods used here.

const CLICK_PX = 4;
const KEYS = {
  w: (chart) => chart.zoom(0.7), "+": (chart) => chart.zoom(0.7), "=": (chart) => chart.zoom(0.7),
  s: (chart) => chart.zoom(1 / 0.7), "-": (chart) => chart.zoom(1 / 0.7),
  a: (chart) => chart.pan(-0.15), arrowleft: (chart) => chart.pan(-0.15),
  d: (chart) => chart.pan(0.15), arrowright: (chart) => chart.pan(0.15),
  arrowup: (chart) => chart.zoom(0.7), arrowdown: (chart) => chart.zoom(1 / 0.7),
  0: (chart) => chart.fit(), escape: (chart) => chart.clear(), "/": (chart) => chart.bar.focus(),
  ".": (chart) => chart.walk(1, 0), ",": (chart) => chart.walk(-1, 0), j: (chart) => chart.walk(0, 1), k: (chart) => chart.walk(0, -1),
  f: (chart) => chart.foldSelected(), m: (chart, more) => chart.mark(more),
};

function listen(canvas, chart) {
  const touches = new Map();
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    touches.set(event.pointerId, event.offsetX);
    const { from, to } = chart.view;
    drag = { x: event.offsetX, y: event.offsetY, from, to, measures: event.shiftKey, moved: false };
    if (touches.size === 2) drag = { ...pinch(touches, chart), moved: true };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (touches.has(event.pointerId)) touches.set(event.pointerId, event.offsetX);
    if (drag) move(chart, drag, touches, event);
    chart.point(event.offsetX, event.offsetY, drag !== null && drag.moved);
  });
  const end = (event) => {
    const ended = drag;
    touches.delete(event.pointerId);
    drag = null;
    if (event.type === "pointerup" && ended && !ended.moved) chart.click(event.offsetX, event.offsetY);
    if (event.type === "pointercancel" || event.pointerType === "touch") chart.leave();
    chart.settle();
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", () => chart.leave());
  canvas.addEventListener("keydown", (event) => {
    const pressed = event.ctrlKey || event.metaKey || event.altKey ? null : KEYS[event.key.toLowerCase()];
    if (!pressed) return;
    event.preventDefault();
    event.stopPropagation();
    pressed(chart, event.shiftKey);
  });
  // The page scrolls by wheel until the canvas has the focus, or with Ctrl at any time.
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && canvas.getRootNode().activeElement !== canvas) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) chart.pan(event.deltaX / chart.layout.plot);
    else chart.zoom(Math.exp(event.deltaY * 0.0022));
  }, { passive: false });
}

// A hand is never quite still: what moves less than a few pixels is a click.
function move(chart, drag, touches, event) {
  drag.moved ||= Math.hypot(event.offsetX - drag.x, event.offsetY - drag.y) >= CLICK_PX;
  if (drag.pinches) chart.pinch(drag, touches);
  else if (drag.moved && drag.measures) chart.measure(drag.x, event.offsetX);
  else if (drag.moved) chart.drag(drag, event.offsetX);
}

function pinch(touches, chart) {
  const [one, other] = [...touches.values()];
  return { pinches: true, one: chart.time(one), other: chart.time(other) };
}
