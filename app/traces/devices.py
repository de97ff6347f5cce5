"""How busy the devices of a recording were, and why they were idle."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from app.charts.markup import missing
from app.markup import section
from app.traces.doubt import Findings
from app.traces.figures import NOT_TOLD
from profiles.comparison.figures import percent, prose_time
from profiles.recorded import GapCause, Idle
from profiles.trace.printable import printable
from profiles.trace.summary import DeviceSummary, TraceSummary

CAUSES = {
    GapCause.NOT_KNOWN: "not known: no recorded call launched what came next",
    GapCause.BETWEEN_STEPS: "between steps",
    GapCause.SYNCHRONISATION: "the host waited for the device",
    GapCause.HOST_LATE: "the host was late with the next launch",
    GapCause.DEPENDENCY: "waiting for another stream",
    GapCause.UNEXPLAINED: "unexplained: records may be missing",
    GapCause.BETWEEN_SLICES: "starting the next kernel",
}

COLUMNS = (
    *(("Kernel busy", "num wide"), ("GPU busy", "num wide"), ("Span", "num wide")),
    *(("Idle", "num"), ("Of the span", "num")),
)


def device_name(device: DeviceSummary) -> str:
    return printable(device.name) if device.name else f"GPU {device.index}"


def devices_html(summary: TraceSummary, findings: Findings) -> str:
    """One row per device; figures of devices are never divided by a common span."""
    if not summary.devices:
        return ""
    body = "".join(_device(device, findings) for device in summary.devices)
    head = "".join(f'<th class="{css}" scope="col">{name}</th>' for name, css in COLUMNS)
    return (
        f'{section("Devices")}<div class="fs"><div class="fs-scroll"><table class="fs-devices"><thead><tr>'
        f'<th scope="col">Device</th>{head}</tr></thead><tbody>{body}</tbody></table></div></div>'
    )


def idle_html(summary: TraceSummary, findings: Findings) -> str:
    """By cause, the longest in all first; empty where the devices were never idle."""
    if not summary.idle:
        return ""
    whole = sum(idle.total_ns for idle in summary.idle)
    body = "".join(_cause(idle, whole) for idle in summary.idle)
    spans = [device.gpu_span_ns for device in summary.devices]
    aside = findings.figure(escape(_of_spans(whole, [span for span in spans if span])), "idle")
    head = (
        '<tr><th scope="col">Because</th><th class="num" scope="col">Gaps</th><th class="num" scope="col">In all</th>'
        '<th class="num wide" scope="col">Longest</th><th class="num" scope="col">Share</th><th class="wide"></th></tr>'
    )
    return (
        f'{section("Why the GPU was idle", aside=aside)}<div class="fs"><div class="fs-scroll"><table class="fs-idle">'
        f"<thead>{head}</thead><tbody>{body}</tbody></table></div></div>"
    )


def _device(device: DeviceSummary, findings: Findings) -> str:
    share = device.idle_ns / device.gpu_span_ns if device.idle_ns is not None and device.gpu_span_ns else None
    cells = (
        _time(device.kernel_busy_ns, "kernel_busy_ns", findings),
        _time(device.gpu_busy_ns, "gpu_busy_ns", findings),
        _time(device.gpu_span_ns, "gpu_span_ns", findings),
        _time(device.idle_ns, "idle", findings),
        missing("the device has no records") if share is None else f"{percent(share)} idle",
    )
    name = escape(f"{device.index} · {device_name(device)}" if device.name else device_name(device))
    row = "".join(f'<td class="{css}">{cell}</td>' for cell, (_, css) in zip(cells, COLUMNS, strict=True))
    return f'<tr><th scope="row"><span class="fs-device" title="{name}">{name}</span></th>{row}</tr>'


def _time(ns: int | None, field: str, findings: Findings) -> str:
    return missing(NOT_TOLD) if ns is None else findings.figure(prose_time(ns), field)


def _cause(idle: Idle, whole_ns: int) -> str:
    share = idle.total_ns / whole_ns if whole_ns else 0.0
    return (
        f'<tr><th scope="row">{escape(CAUSES[idle.cause])}</th><td class="num">{idle.count:,}</td>'
        f'<td class="num">{prose_time(idle.total_ns)}</td><td class="num wide">{prose_time(idle.longest_ns)}</td>'
        f'<td class="num">{percent(share)}</td>'
        f'<td class="wide fs-barcell"><i class="fs-block fs-neutral" style="width:{share * 100:.2f}%"></i></td></tr>'
    )


def _of_spans(whole_ns: int, spans_ns: Sequence[int]) -> str:
    over = f" of {len(spans_ns)} devices together" if len(spans_ns) > 1 else ""
    return f"{prose_time(whole_ns)} of {prose_time(sum(spans_ns))}{over}"
