"""The kernels of a whole recording by name: role, calls, times, and what stood around their launches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.charts.causes import causes_html, kernel_html
from app.charts.doubts import Doubts
from app.charts.markup import ZERO, full_name, missing, swatch
from app.formatting import count
from app.traces.figures import NOT_TOLD
from profiles.comparison.figures import MICROSECONDS, MILLISECONDS, TimeUnit, percent
from profiles.trace.contents import TraceContents
from profiles.trace.seen_kernels import SeenKernel

SHOWN = 12
MOST_ROWS = 400
NO_OPERATOR = "no operator was open on the launching thread, or its launch is not in the file"


@dataclass(frozen=True, slots=True)
class _Frame:
    """What all rows share; `steps`, `modules` and `sources` say whether the file tells them of any kernel."""

    unit: TimeUnit
    steps: bool
    modules: bool
    sources: bool
    whole_ns: int
    longest_ns: int
    doubts: Doubts
    reasons: tuple[str, ...]


class _Column(NamedTuple):
    """`total` stands below it, of the whole recording. Columns that are `wide` are not on a phone."""

    head: str
    unit: str
    css: str
    cell: Callable[[SeenKernel, _Frame], str]
    total: str = ""


def kernels_html(contents: TraceContents, doubts: Doubts, *, reasons: tuple[str, ...] = ()) -> str:
    """The longest in all first, the rest folded; `reasons` are why calls and sums of the file are in doubt."""
    kernels = contents.kernels
    if not kernels:
        return ""
    whole = sum(kernel.total_ns for kernel in kernels)
    unit = MILLISECONDS if kernels[0].total_ns >= 1_000_000_000 else MICROSECONDS
    frame = _Frame(
        unit=unit,
        steps=any(kernel.per_step for kernel in kernels),
        modules=any(kernel.modules for kernel in kernels),
        sources=any(kernel.sources for kernel in kernels),
        whole_ns=whole,
        longest_ns=kernels[0].total_ns,
        doubts=doubts,
        reasons=reasons,
    )
    columns = _columns(frame, calls=sum(kernel.calls for kernel in kernels))
    shown = _table(kernels[:SHOWN], columns, frame, total=_total(columns))
    return f'<div class="fs">{shown}{_folded(kernels[SHOWN:], columns, frame)}</div>'


def _columns(frame: _Frame, *, calls: int) -> tuple[_Column, ...]:
    """All that the file tells something for; bars where modules and lines of code leave them room."""
    marked = (frame.doubts.mark_all(text, frame.reasons) for text in (count(calls), frame.unit.write(frame.whole_ns)))
    bars = not (frame.modules and frame.sources)
    return (
        _Column("Kernel", "", "", _name, "the whole recording"),
        _Column("Role", "", "wide fs-muted fs-nowrap", lambda kernel, _: f"{swatch(kernel.role)} {kernel.role}"),
        _Column("Launched by", "", "wide fs-muted", lambda kernel, _: _first(kernel.launched_by, str, NO_OPERATOR)),
        *([_Column("Module", "", "wide fs-muted", _module)] if frame.modules else []),
        *([_Column("Source", "", "wide fs-muted", _source)] if frame.sources else []),
        *([_Column("Per step", "", "num wide", _per_step)] if frame.steps else []),
        _Column("Calls", "", "num", lambda kernel, _: count(kernel.calls), next(marked)),
        _Column("In all", frame.unit.symbol, "num", lambda kernel, f: f.unit.write(kernel.total_ns), next(marked)),
        _Column("Share", "", "num", lambda kernel, f: f"{kernel.total_ns / max(f.whole_ns, 1) * 100:.1f} %"),
        _Column("Median", "µs", "num wide", lambda kernel, _: MICROSECONDS.write(kernel.p50_ns)),
        _Column("p95", "µs", "num wide", lambda kernel, _: MICROSECONDS.write(kernel.p95_ns)),
        *([_Column("", "", "wide fs-barcell", _bar)] if bars else []),
    )


def _table(kernels: Sequence[SeenKernel], columns: Sequence[_Column], frame: _Frame, *, total: str = "") -> str:
    head = "".join(f'<th scope="col" class="{column.css}">{column.head}{_unit(column)}</th>' for column in columns)
    body = "".join(_row([column.cell(kernel, frame) for column in columns], columns) for kernel in kernels)
    table = f'<table class="fs-kernels fs-seen"><thead><tr>{head}</tr></thead><tbody>{body}{total}</tbody></table>'
    return f'<div class="fs-scroll">{table}</div>'


def _unit(column: _Column) -> str:
    return f"<small>{column.unit}</small>" if column.unit else ""


def _row(cells: Sequence[str], columns: Sequence[_Column], *, css: str = "") -> str:
    rest = "".join(f'<td class="{column.css}">{html}</td>' for html, column in zip(cells[1:], columns[1:], strict=True))
    return f'<tr class="{css}"><th scope="row">{cells[0]}</th>{rest}</tr>'


def _total(columns: Sequence[_Column]) -> str:
    return _row([column.total for column in columns], columns, css="fs-sum")


def _name(kernel: SeenKernel, _: _Frame) -> str:
    told = causes_html(
        kernel.launched_by,
        kernel.modules,
        kernel.sources,
        inferred=bool(kernel.inferred),
        launch_calls=kernel.launch_calls,
    )
    return kernel_html(kernel.short_name, kernel.name, told)


def _per_step(kernel: SeenKernel, frame: _Frame) -> str:
    if not kernel.per_step:
        return missing(NOT_TOLD)
    least, most = min(kernel.per_step), max(kernel.per_step)
    if least == most:
        return count(most) if most else ZERO
    reason = "unstable: equal steps launched it a different number of times"
    return frame.doubts.mark(f"{count(least)}–{count(most)}", reason)


def _module(kernel: SeenKernel, _: _Frame) -> str:
    """The innermost one, of the most frequent path."""
    return _first(kernel.modules, lambda path: path.rpartition(" > ")[2], "no module is told")


def _source(kernel: SeenKernel, _: _Frame) -> str:
    """`modeling_bert.py(364)`."""
    return _first(kernel.sources, lambda line: line.rpartition("/")[2].partition(": ")[0], "no line of code is told")


def _first(found: Sequence[str], short: Callable[[str], str], why_none: str) -> str:
    """The most frequent in short, all of it on hover, and how many more there are; the fold has them all."""
    if not found:
        return missing(why_none)
    more = f" +{len(found) - 1}" if len(found) > 1 else ""
    return f'<code class="fs-op" title="{full_name(found[0])}">{full_name(short(found[0]))}</code>{more}'


def _bar(kernel: SeenKernel, frame: _Frame) -> str:
    length = kernel.total_ns / max(frame.longest_ns, 1) * 100
    return f'<i class="fs-block fs-role-{kernel.role}" style="width:{length:.2f}%"></i>'


def _folded(rest: Sequence[SeenKernel], columns: Sequence[_Column], frame: _Frame) -> str:
    if not rest:
        return ""
    part = sum(kernel.total_ns for kernel in rest) / max(frame.whole_ns, 1)
    left = len(rest) - MOST_ROWS
    note = f'<p class="fs-fold-lead">{left:,} more names are in the CSV.</p>' if left > 0 else ""
    summary = f"<summary>{len(rest):,} more, {percent(part)} of the time</summary>"
    return f'<details class="fs-fold">{summary}{_table(rest[:MOST_ROWS], columns, frame)}{note}</details>'
