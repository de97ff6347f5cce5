"""The kernels of a whole recording by name: role, calls, times, and what stood around their launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from app.charts.causes import causes_html
from app.charts.doubts import Doubts
from app.charts.markup import full_name, missing, swatch
from app.formatting import count
from profiles.comparison.figures import MICROSECONDS, MILLISECONDS, TimeUnit, percent
from profiles.trace.contents import TraceContents
from profiles.trace.printable import printable
from profiles.trace.seen_kernels import SeenKernel

SHOWN = 12
MOST_ROWS = 400


@dataclass(frozen=True, slots=True)
class _Frame:
    """What all rows share; `steps` says whether the file tells calls per step."""

    unit: TimeUnit
    steps: bool
    whole_ns: int
    longest_ns: int
    doubts: Doubts
    reasons: tuple[str, ...]


def kernels_html(contents: TraceContents, doubts: Doubts, *, reasons: tuple[str, ...] = ()) -> str:
    """The longest in all first, the rest folded; `reasons` are why calls and sums of the file are in doubt."""
    kernels = contents.kernels
    if not kernels:
        return ""
    whole = sum(kernel.total_ns for kernel in kernels)
    unit = MILLISECONDS if kernels[0].total_ns >= 1_000_000_000 else MICROSECONDS
    frame = _Frame(unit, any(kernel.per_step for kernel in kernels), whole, kernels[0].total_ns, doubts, reasons)
    body = "".join(_row(kernel, frame) for kernel in kernels[:SHOWN]) + _total(kernels, frame)
    return f'<div class="fs">{_table(body, frame)}{_folded(kernels[SHOWN:], frame)}</div>'


def kernel_name(kernel: SeenKernel) -> str:
    """The short name, which opens to the whole one and to operators, modules and lines of code around its launches."""
    short, whole = escape(printable(kernel.short_name)), full_name(kernel.name)
    told = causes_html(kernel.launched_by, kernel.modules, kernel.sources, inferred=bool(kernel.inferred))
    if short == whole and not told:
        return f'<code class="fs-kernel">{short}</code>'
    summary = f'<summary title="{whole}"><code class="fs-kernel">{short}</code></summary>'
    return f'<details class="fs-whole-name">{summary}<code>{whole}</code>{told}</details>'


def _table(body: str, frame: _Frame) -> str:
    columns = (
        ("Kernel", "", ""),
        ("Role", "", "wide"),
        ("Launched by", "", "wide"),
        *((("Per step", "", "num wide"),) if frame.steps else ()),
        ("Calls", "", "num"),
        ("In all", frame.unit.symbol, "num"),
        ("Share", "", "num"),
        ("Median", "µs", "num wide"),
        ("p95", "µs", "num wide"),
        ("", "", "wide"),
    )
    head = "".join(
        f'<th scope="col" class="{css}">{name}{f"<small>{unit}</small>" if unit else ""}</th>'
        for name, unit, css in columns
    )
    table = f'<table class="fs-kernels fs-seen"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f'<div class="fs-scroll">{table}</div>'


def _row(kernel: SeenKernel, frame: _Frame) -> str:
    step = f'<td class="num wide">{_per_step(kernel, frame.doubts)}</td>' if frame.steps else ""
    share = kernel.total_ns / frame.whole_ns if frame.whole_ns else 0.0
    length = kernel.total_ns / frame.longest_ns * 100 if frame.longest_ns else 0.0
    return (
        f'<tr><th scope="row">{kernel_name(kernel)}</th>'
        f'<td class="wide fs-muted fs-nowrap">{swatch(kernel.role)} {kernel.role}</td>'
        f'<td class="wide fs-muted">{_operator(kernel)}</td>{step}<td class="num">{count(kernel.calls)}</td>'
        f'<td class="num">{frame.unit.write(kernel.total_ns)}</td><td class="num">{share * 100:.1f} %</td>'
        f'<td class="num wide">{MICROSECONDS.write(kernel.p50_ns)}</td>'
        f'<td class="num wide">{MICROSECONDS.write(kernel.p95_ns)}</td><td class="wide fs-barcell">'
        f'<i class="fs-block fs-role-{kernel.role}" style="width:{length:.2f}%"></i></td></tr>'
    )


def _per_step(kernel: SeenKernel, doubts: Doubts) -> str:
    if not kernel.per_step:
        return missing("the file does not tell it")
    least, most = min(kernel.per_step), max(kernel.per_step)
    if least == most:
        return count(most) if most else '<span class="fs-faint">0</span>'
    return doubts.mark(f"{count(least)}–{count(most)}", "unstable: equal steps launched it a different number of times")


def _operator(kernel: SeenKernel) -> str:
    if not kernel.launched_by:
        return missing("no operator was open on the launching thread, or its launch is not in the file")
    more = f" +{len(kernel.launched_by) - 1}" if len(kernel.launched_by) > 1 else ""
    return f'<code class="fs-op">{full_name(kernel.launched_by[0])}</code>{more}'


def _total(kernels: Sequence[SeenKernel], frame: _Frame) -> str:
    step = '<td class="wide"></td>' if frame.steps else ""
    calls = frame.doubts.mark_all(count(sum(kernel.calls for kernel in kernels)), frame.reasons)
    time = frame.doubts.mark_all(frame.unit.write(frame.whole_ns), frame.reasons)
    return (
        f'<tr class="fs-sum"><th scope="row">the whole recording</th><td class="wide"></td><td class="wide"></td>{step}'
        f'<td class="num">{calls}</td><td class="num">{time}</td><td></td><td class="wide"></td><td class="wide"></td>'
        '<td class="wide"></td></tr>'
    )


def _folded(rest: Sequence[SeenKernel], frame: _Frame) -> str:
    if not rest:
        return ""
    part = sum(kernel.total_ns for kernel in rest) / frame.whole_ns if frame.whole_ns else 0.0
    left = len(rest) - MOST_ROWS
    note = f'<p class="fs-fold-lead">{left:,} more names are in the CSV.</p>' if left > 0 else ""
    rows = "".join(_row(kernel, frame) for kernel in rest[:MOST_ROWS])
    summary = f"<summary>{len(rest):,} more, {percent(part)} of the time</summary>"
    return f'<details class="fs-fold">{summary}{_table(rows, frame)}{note}</details>'
