"""A span of a timeline as a table: for whom a canvas is no use."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from app.charts.doubts import Doubts
from app.charts.markup import full_name, key_box, swatch
from app.formatting import microseconds, plural
from app.markup import page
from app.timeline.doubts import Doubt, Quantity
from app.timeline.ranges import DeviceInRange, KernelInRange, RangeSummary
from app.timeline.shown import Shown
from profiles.results import Role
from profiles.trace.printable import printable

MOST_LISTED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One lane, and what of it ran within the span."""

    key: str
    label: str
    baseline: bool
    shown: Shown
    found: RangeSummary


def listed_html(lane: Listed) -> str:
    """The longest kernels first; the rest is told as a number."""
    doubts = Doubts()
    shown, rest = lane.found.kernels[:MOST_LISTED], lane.found.kernels[MOST_LISTED:]
    name = f"{key_box(lane.key, filled=lane.baseline)}<code>{escape(lane.label)}</code>"
    body = "".join(_row(kernel) for kernel in shown)
    table = (
        f'<div class="fs-scroll"><table class="fs-kernels" aria-label="Kernels of {escape(lane.label)} in this view">'
    )
    table += f"{_head(lane.found, doubts)}<tbody>{body}</tbody></table></div>"
    more = f'<p class="fs-muted">{_more(rest)}</p>' if rest else ""
    devices = "".join(f'<p class="fs-muted">{_device(device, lane.found, doubts)}</p>' for device in lane.found.devices)
    span = f'<p>{name} <span class="fs-muted">{_span(lane)}</span></p>'
    return page(f"{span}{devices}{table if shown else ''}{more}{doubts.notes()}")


def _head(found: RangeSummary, doubts: Doubts) -> str:
    calls = doubts.mark_all("Calls", _reasons(found.doubts, Quantity.CALLS))
    times = doubts.mark_all("µs", _reasons(found.doubts, Quantity.TIMES))
    return (
        '<thead><tr><th scope="col">Name</th><th scope="col" class="wide">Role</th>'
        f'<th scope="col" class="num">{calls}</th><th scope="col" class="num">{times}</th>'
        '<th scope="col" class="num">Share</th></tr></thead>'
    )


def _row(kernel: KernelInRange) -> str:
    return (
        f'<tr><th scope="row"><code class="fs-kernel" title="{full_name(kernel.full_name)}">'
        f"{escape(printable(kernel.name))}</code></th>"
        f'<td class="fs-muted fs-nowrap wide">{swatch(Role(kernel.role))} {kernel.role}</td>'
        f'<td class="num">{kernel.calls:,}</td><td class="num">{microseconds(kernel.total_ns)}</td>'
        f'<td class="num">{kernel.share * 100:.1f} %</td></tr>'
    )


def _span(lane: Listed) -> str:
    first, last = (ns - lane.shown.zero_ns for ns in (lane.found.from_ns, lane.found.to_ns))
    what = plural(lane.found.slices, "slice") if lane.found.slices else "nothing"
    return f"{microseconds(first)} to {microseconds(last)} µs: {what} within"


def _device(device: DeviceInRange, found: RangeSummary, doubts: Doubts) -> str:
    where = "host" if device.device is None else f"GPU {device.device}"
    whole = found.to_ns - found.from_ns
    busy = f"busy {microseconds(device.busy_ns)} of {microseconds(whole)} µs ({device.busy_ns / whole * 100:.1f} %)"
    gaps = "no gaps"
    if device.gaps:
        gaps = f"{plural(device.gaps, 'gap')} of {microseconds(device.gap_ns)} µs in all"
        gaps += f", the longest {microseconds(device.longest_gap_ns)} µs"
    return (
        f"{where}: {doubts.mark_all(busy, _reasons(found.doubts, Quantity.BUSY))}, "
        f"{doubts.mark_all(gaps, _reasons(found.doubts, Quantity.GAPS))}"
    )


def _more(rest: tuple[KernelInRange, ...]) -> str:
    share = sum(kernel.share for kernel in rest)
    return f"{plural(len(rest), 'more name')}, {share * 100:.1f} % of the time: in the CSV of the export."


def _reasons(doubts: tuple[Doubt, ...], quantity: Quantity) -> tuple[str, ...]:
    return tuple(printable(doubt.message) for doubt in doubts if quantity in doubt.about)
