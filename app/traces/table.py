"""The traces of a comparison, one row each: what they launch, what it takes, and how long against the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from app.charts.doubts import Doubts
from app.charts.markup import full_name, key_box, missing
from app.traces.bars import small_bar
from app.traces.doubt import reasons
from app.traces.facts import device_words, rank_text, state_badge
from app.traces.figures import count_cell, ratio_cell, time_cell, unit_for
from db.views import ComparedTrace
from profiles.comparison.figures import TimeUnit, percent
from profiles.comparison.traces.alone import idle_share
from profiles.comparison.traces.document import ComparedTraces, TraceDifference, TraceFacts
from profiles.comparison.traces.entry import Basis
from profiles.trace.printable import printable


@dataclass(frozen=True, slots=True)
class _Frame:
    """What all rows share; `differences` from the baseline are by letter."""

    told: ComparedTraces
    traces: Mapping[str, ComparedTrace]
    differences: Mapping[str, TraceDifference]
    unit: TimeUnit
    longest_ns: int
    graphs: bool
    mixed: bool
    doubts: Doubts


def table_html(told: ComparedTraces, traces: Sequence[ComparedTrace]) -> str:
    """The baseline first, then by letter; what is not read yet or was refused last, in the same columns."""
    frame = _frame(told, traces)
    facts = sorted(told.traces, key=lambda one: not one.baseline)
    rows = "".join(_row(one, frame) for one in facts)
    known = {one.key for one in told.traces}
    columns = _columns(frame)
    rest = "".join(_unread(trace, len(columns)) for trace in traces if trace.key not in known)
    head = "".join(
        f'<th scope="col" class="{css}">{name}{f"<small>{escape(unit)}</small>" if unit else ""}</th>'
        for name, unit, css in (("Trace", "", ""), *columns)
    )
    table = f'<table class="fs-variants fs-traces"><thead><tr>{head}</tr></thead><tbody>{rows}{rest}</tbody></table>'
    return f'<div class="fs"><div class="fs-scroll">{table}</div>{frame.doubts.notes()}</div>'


def _frame(told: ComparedTraces, traces: Sequence[ComparedTrace]) -> _Frame:
    longest = max((one.kernel_time.value or 0 for one in told.traces), default=0)
    return _Frame(
        told=told,
        traces={trace.key: trace for trace in traces},
        differences={one.candidate: one for one in told.differences},
        unit=unit_for(longest),
        longest_ns=longest,
        graphs=any(one.graph_launches.value for one in told.traces),
        mixed=len({one.basis for one in told.traces}) > 1,
        doubts=Doubts(),
    )


def _columns(frame: _Frame) -> tuple[tuple[str, str, str], ...]:
    """(title, unit, class) of all after the first."""
    basis = "as told" if frame.mixed else str(next((one.basis for one in frame.told.traces), Basis.STEP))
    return (
        *((("Counted", "", "wide"),) if frame.mixed else ()),
        ("Device", "", "wide"),
        ("Kernels", basis, "num"),
        ("Copies", "", "num wide"),
        ("Fills", "", "num wide"),
        ("Launches", "", "num wide"),
        *((("Graphs", "launched", "num wide"),) if frame.graphs else ()),
        ("Kernel time", f"{frame.unit.symbol}, {basis}", "num"),
        ("", "by role", "wide"),
        ("Ratio", f"against {frame.told.baseline}", "num"),
        ("GPU idle", "of the recording", "num wide"),
    )


def _row(one: TraceFacts, frame: _Frame) -> str:
    trace = frame.traces[one.key]
    name = f"{key_box(one.key, filled=one.baseline)} {_name(one.label)}"
    told = rank_text(trace.contents.rank) if trace.contents is not None else None
    rank = f' <span class="fs-rank fs-muted">{told}</span>' if told else ""
    counts = [("num", one.kernels), ("num wide", one.copies), ("num wide", one.fills), ("num wide", one.launches)]
    counts += [("num wide", one.graph_launches)] if frame.graphs else []
    cells = [
        *([("wide fs-muted", escape(str(one.basis)))] if frame.mixed else []),
        ("wide fs-muted", _devices(trace)),
        *((css, count_cell(figure, frame.doubts, of=one.key)) for css, figure in counts),
        ("num", time_cell(one.kernel_time, frame.unit, frame.doubts, of=one.key)),
        ("wide", small_bar(one, frame.longest_ns)),
        ("num", '<span class="fs-muted">baseline</span>' if one.baseline else _ratio(one, frame)),
        ("num wide", _idle(trace, frame.doubts)),
    ]
    body = "".join(f'<td class="{css}">{html}</td>' for css, html in cells)
    return f'<tr{" class=baseline" if one.baseline else ""}><th scope="row">{name}{rank}</th>{body}</tr>'


def _name(label: str) -> str:
    """Cut where the column ends, whole on hover."""
    return f'<code class="fs-name" title="{full_name(label)}">{full_name(label)}</code>'


def _ratio(one: TraceFacts, frame: _Frame) -> str:
    """Of like with like: of whole recordings where one of the two tells no steps, whatever their rows show."""
    found = frame.differences[one.key]
    html = ratio_cell(found.kernel_time.ratio)
    if found.basis is Basis.STEP or not frame.mixed:
        return html
    return frame.doubts.note(html, f"{one.key}: of the whole recordings ({found.basis_reason or 'no common steps'})")


def _devices(trace: ComparedTrace) -> str:
    told = escape(device_words(trace.summary))
    return f'<span class="fs-device" title="{told}">{told}</span>' if told else missing("the file names no device")


def _idle(trace: ComparedTrace, doubts: Doubts) -> str:
    share = None if trace.summary is None else idle_share(trace.summary)
    if trace.summary is None or share is None:
        return missing("no GPU activity is recorded")
    told = tuple(f"{trace.key}: {reason}" for reason in reasons(trace.summary, "idle"))
    return doubts.mark_all(percent(share), told)


def _unread(trace: ComparedTrace, width: int) -> str:
    """Its state, and the reason across the columns of figures."""
    reason = escape(printable(trace.failure.message)) if trace.failure is not None else "is read when a worker is free"
    return (
        f'<tr class="pending"><th scope="row">{key_box(trace.key)} {_name(trace.label)}</th>'
        f'<td colspan="{width}" class="fs-reason">{state_badge(trace)} <span>{reason}</span></td></tr>'
    )
