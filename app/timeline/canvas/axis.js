// Times as text, and round ticks. All times here are ns.

function timeText(ns, step) {
  const size = Math.max(Math.abs(ns), step);
  if (size >= 1e9) return `${figure(ns / 1e9, step / 1e9)} s`;
  if (size >= 1e6) return `${figure(ns / 1e6, step / 1e6)} ms`;
  return `${figure(ns / 1e3, step / 1e3)} µs`;
}

// As many decimals as neighbouring ticks need to differ, two at least for ms and s that are not whole steps.
function figure(value, step) {
  const decimals = step >= 1 ? 0 : Math.min(3, Math.ceil(-Math.log10(step) - 1e-9));
  return value.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals }).replace("-", "−");
}

function durationText(ns) {
  if (ns >= 1e6) return `${(ns / 1e6).toFixed(2)} ms`;
  return ns >= 1e5 ? `${Math.round(ns / 1e3)} µs` : `${(ns / 1e3).toFixed(ns >= 1e4 ? 1 : 2)} µs`;
}

function exactText(ns) {
  return `${(ns / 1e3).toLocaleString("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 }).replace("-", "−")} µs`;
}

function ticks(from, to, pixels) {
  const rough = (to - from) / Math.max(2, pixels / (pixels < PHONE ? 86 : 130));
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * magnitude).find((size) => size >= rough);
  const found = [];
  for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) found.push(Math.abs(tick) < step / 2 ? 0 : tick);
  return { step, found };
}
