// Mouse, touch and keys, as moves of the view. A chart has `view`, `layout`, `pointer` and the methods used here.

const KEYS = {
  w: (chart) => chart.zoom(0.7), "+": (chart) => chart.zoom(0.7), "=": (chart) => chart.zoom(0.7),
  s: (chart) => chart.zoom(1 / 0.7), "-": (chart) => chart.zoom(1 / 0.7),
  a: (chart) => chart.pan(-0.15), arrowleft: (chart) => chart.pan(-0.15),
  d: (chart) => chart.pan(0.15), arrowright: (chart) => chart.pan(0.15),
  0: (chart) => chart.fit(), escape: (chart) => chart.clear(),
};

function listen(canvas, chart) {
  const touches = new Map();
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    touches.set(event.pointerId, event.offsetX);
    drag = { x: event.offsetX, from: chart.view.from, to: chart.view.to, measures: event.shiftKey };
    if (event.shiftKey) chart.measure(event.offsetX, event.offsetX);
    if (touches.size === 2) drag = pinch(touches, chart);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (touches.has(event.pointerId)) touches.set(event.pointerId, event.offsetX);
    if (drag && drag.pinches) chart.pinch(drag, touches);
    else if (drag && drag.measures) chart.measure(drag.x, event.offsetX);
    else if (drag) chart.drag(drag, event.offsetX);
    chart.point(event.offsetX, event.offsetY, drag !== null);
  });
  const end = (event) => {
    touches.delete(event.pointerId);
    drag = null;
    if (event.type === "pointercancel" || event.pointerType === "touch") chart.leave();
    chart.settle();
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", () => chart.leave());
  canvas.addEventListener("keydown", (event) => {
    const move = event.ctrlKey || event.metaKey || event.altKey ? null : KEYS[event.key.toLowerCase()];
    if (!move) return;
    event.preventDefault();
    event.stopPropagation();
    move(chart);
  });
  // The page scrolls by wheel until the canvas has the focus, or with Ctrl at any time.
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && canvas.getRootNode().activeElement !== canvas) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) chart.pan(event.deltaX / chart.layout.plot);
    else chart.zoom(Math.exp(event.deltaY * 0.0022));
  }, { passive: false });
}

function pinch(touches, chart) {
  const [one, other] = [...touches.values()];
  return { pinches: true, one: chart.time(one), other: chart.time(other) };
}
