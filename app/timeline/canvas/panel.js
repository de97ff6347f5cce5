// What stands under the canvas as text: what is drawn, the selected slice, and the kernels of the selected range.

const MOST_LISTED = 40, BEYOND = "the others before or after its work: zoom out", COUNT = (value) => value.toLocaleString("en-US");

function statusText(lanes, fitted) {
  return lanes.map((lane) => `${lane.key}: ${lane.run ? [emptiness(lane) || drawnText(lane) || allText(lane.run), fitted && lane.seen < lane.run.slices ? BEYOND : "", doubtText(lane.run.doubts)].filter(Boolean).join(", ") : lane.message}`).join(" · ");
}

function allText({ slices }) {
  return slices === 1 ? "its one slice drawn" : `all ${COUNT(slices)} slices drawn`;
}

// `213 gaps unexplained: calls, times, busy times and gaps doubtful (and 2 findings more)`
function doubtText([first, ...more]) {
  if (!first) return "";
  return `▲ ${first.text}${more.length ? ` (and ${more.length} ${more.length === 1 ? "finding" : "findings"} more)` : ""}`;
}

function sliceFacts(lane, i) {
  const { run } = lane, name = run.names[run.name[i]], many = countOf(run, i);
  const [launch] = ties(run, i), track = run.tracks[run.track[i]];
  const [operator, module, source, inferred] = causeOf(run, i);
  const caused = (text) => text && element("span", {}, element("code", {}, text), inferred ? element("span", { className: "inferred" }, ` ${INFERRED}`) : "");
  const lines = [
    ["Name", element("code", {}, name.full)],
    many > 1 ? ["Merged", `the longest of ${COUNT(many)} slices that share this pixel; zoom in to tell them apart`] : null,
    ["Row", `${lane.key} ${lane.label} · ${track.name}`],
    track.kind === run.main[0] ? ["Role", name.role] : null,
    ["Stages", stagesText(run, i, lane.stages)],
    ["Start", `${COUNT(run.start[i])} ns`],
    ["Duration", `${COUNT(run.busy ? run.busy[i] : run.duration[i])} ns`],
    launch && track.kind !== "launches" ? ["Launch", launchText(run, launch[0], i)] : null,
    track.kind === "launches" ? ["Started", startedText(run, i)] : null,
    ["Operator", caused(operator)],
    ["Module", caused(module)],
    ["Source", caused(source)],
  ].filter((line) => line && line[1]);
  return element("dl", {}, ...lines.flatMap(([term, told]) => [element("dt", {}, term), element("dd", {}, told)]));
}

// `flash_fwd, attention · 9.1 µs · 2.9 % of naive, on stream 7 of A, at 12,300 ns`
function spokenText(lane, i) {
  const { run } = lane;
  return `${run.names[run.name[i]].short}, ${facts({ run, slice: i, label: lane.label, stages: lane.stages })}, on ${run.tracks[run.track[i]].name} of ${lane.key}, at ${COUNT(run.start[i])} ns`;
}

function launchText(run, launch, i) {
  return `${run.names[run.name[launch]].short} at ${COUNT(run.start[launch])} ns, ${COUNT(run.start[i] - run.start[launch])} ns before`;
}

function startedText(run, i) {
  const started = ties(run, i).map(([, slice]) => run.names[run.name[slice]].short);
  if (!started.length) return run.count ? "" : "nothing that is shown here";
  return started.length === 1 ? started[0] : `${COUNT(started.length)} slices, first ${started[0]}`;
}

// What is in doubt is underlined, with the numbers of the notes below that say why.
function marked(text, found, ...quantities) {
  const numbers = [...found.doubts.keys()].filter((i) => quantities.some((one) => found.doubts[i].about.includes(one))).map((i) => i + 1);
  if (!numbers.length) return text;
  const reasons = numbers.map((number) => found.doubts[number - 1].message).join("; ");
  return element("span", {}, element("span", { className: "doubt", title: `Doubtful: ${reasons}` }, text), element("sup", {}, numbers.join(", ")));
}

function notes({ doubts }) {
  if (!doubts.length) return "";
  return element("ol", { className: "notes", "aria-label": "Notes on the numbers" }, ...doubts.map((doubt) => element("li", {}, doubt.message)));
}

function rangeTable(lane, found, length, url) {
  const lines = found.kernels.slice(0, MOST_LISTED).map((kernel) => [
    element("code", { title: kernel.full_name }, kernel.name), kernel.role, COUNT(kernel.calls), microseconds(kernel.total_ns), `${(kernel.share * 100).toFixed(1)} %`,
  ]);
  const more = found.kernels.length - lines.length;
  return element("section", {},
    element("h3", {}, element("b", {}, lane.key), ` ${lane.label}`),
    ...(found.devices.length ? found.devices.map((device) => deviceLine(device, length, found)) : [element("p", {}, "Nothing ran in this range.")]),
    lines.length ? element("div", { className: "wide" }, table(["Kernel", "Role", marked("Calls", found, "calls"), marked("Total µs", found, "times"), marked("Share", found, "times")], lines)) : "",
    notes(found),
    more > 0 ? element("p", {}, `${COUNT(more)} more names in the CSV.`) : "",
    element("p", {}, element("a", { href: url, download: "" }, "Slices of this range as CSV")));
}

function deviceLine(device, length, found) {
  const where = device.device === null ? "host" : `GPU ${device.device}`;
  const gaps = device.gaps === 0 ? "no gaps" : `${COUNT(device.gaps)} ${device.gaps === 1 ? "gap" : "gaps"} of ${microseconds(device.gap_ns)} µs in all, the longest ${microseconds(device.longest_gap_ns)} µs`;
  const busy = `busy ${microseconds(device.busy_ns)} of ${microseconds(length)} µs (${((device.busy_ns / length) * 100).toFixed(1)} %)`;
  return element("p", {}, `${where}: `, marked(busy, found, "busy times"), ", ", marked(gaps, found, "gaps"));
}

function microseconds(ns) {
  return (ns / 1e3).toLocaleString("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}
