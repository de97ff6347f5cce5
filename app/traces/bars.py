"""Kernel time by role: small bars in the table of traces, larger ones below it, each set on one linear scale."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from app.charts.bars import axis, legend, scale
from app.charts.markup import full_name, key_box
from profiles.comparison.figures import percent, prose_time
from profiles.comparison.traces.document import TraceFacts
from profiles.results import Role

SHORT = 26

Times = Sequence[tuple[Role, int]]


def small_bar(trace: TraceFacts, longest_ns: int) -> str:
    """Its length is the kernel time on the table's common scale."""
    times = role_times(trace)
    if not times or not longest_ns:
        return ""
    blocks = "".join(_block(role, ns, longest_ns, sum(n for _, n in times)) for role, ns in times)
    return f'<div class="fs-stack small" role="img" aria-label="{_spoken(times)}">{blocks}</div>'


def bars_html(traces: Sequence[TraceFacts], *, base_key: str) -> str:
    """Where the kernel time goes; empty where no trace tells any."""
    drawn = [(trace, times) for trace in traces if (times := role_times(trace))]
    if not drawn:
        return ""
    top, ticks = scale(max(_whole(trace, times) for trace, times in drawn))
    rows = "".join(_bar(trace, times, top, filled=trace.key == base_key) for trace, times in drawn)
    roles = {role for _, times in drawn for role, _ in times}
    bases = {trace.basis for trace, _ in drawn}
    told = str(next(iter(bases))) if len(bases) == 1 else "per step where steps are told, else the whole recording"
    title = (
        f'<div class="fs-section"><h2>Where the time goes</h2><span>kernel time by role, {escape(told)}</span></div>'
    )
    return (
        f'<div class="fs">{title}<div class="fs-bars fs-trace-bars">{rows}{axis(ticks, top)}</div>{legend(roles)}</div>'
    )


def role_times(trace: TraceFacts) -> Times:
    """Roles that took time, in the order of `Role`."""
    told = {role: figure.value for role, figure in trace.roles}
    return [(role, value) for role in Role if (value := told.get(role))]


def _bar(trace: TraceFacts, times: Times, top_ns: float, *, filled: bool) -> str:
    whole, added = _whole(trace, times), sum(ns for _, ns in times)
    blocks = "".join(_block(role, ns, added, added) for role, ns in times)
    label = trace.label if len(trace.label) <= SHORT else f"{trace.label[: SHORT - 1]}…"
    name = f'<code class="fs-name" title="{full_name(trace.label)}">{full_name(label)}</code>'
    stack = f'<div class="fs-stack" style="width:{whole / top_ns * 100:.3f}%" role="img" aria-label="{_spoken(times)}">'
    return (
        f'<div class="fs-bar-name">{name} {key_box(trace.key, filled=filled)}</div>'
        f'<div class="fs-bar-track">{stack}{blocks}</div><span class="fs-muted">{prose_time(whole)}</span></div>'
    )


def _whole(trace: TraceFacts, times: Times) -> int:
    """The kernel time of the middle step: the middles of the roles' times need not add up to it."""
    return trace.kernel_time.value or sum(ns for _, ns in times)


def _block(role: Role, ns: int, scale_ns: int, whole_ns: int) -> str:
    title = f"{role}: {prose_time(ns)}, {percent(ns / whole_ns)}"
    return f'<i class="fs-role-{role}" style="width:{ns / scale_ns * 100:.3f}%" title="{escape(title)}"></i>'


def _spoken(times: Times) -> str:
    whole = sum(ns for _, ns in times)
    return escape(", ".join(f"{role} {percent(ns / whole)}" for role, ns in times))
