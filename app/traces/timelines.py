"""The timelines of the traces of a comparison, under each other with one zoom."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.comparison.choice import Choice
from app.comparison.panels import HINT, keep_view, pick_lanes
from app.markup import page, section
from app.timeline.component import timelines
from app.timeline.lane import Lane
from app.timeline.opened import url_of_trace
from db.views import ComparedTrace
from profiles.comparison.figures import count, prose_time
from profiles.trace.printable import printable

ZOOM = "t"


def timeline_panel(traces: Sequence[ComparedTrace], choice: Choice, *, token: str | None) -> None:
    """Without a timeline in any there is no panel."""
    drawn = {trace.key: trace for trace in traces if trace.has_timeline and trace.trace_id is not None}
    if not drawn:
        return
    several = len(drawn) > 1
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="panel-timelines"):
        st.html(section("Timelines" if several else "Timeline", aside=_aside(list(drawn.values()))), width="content")
        picked = pick_lanes(list(drawn), choice.lanes, key="tv") if several else list(drawn)
        st.html(page(f'<div class="fs-hint">{HINT}</div>'))
    lanes = [_lane(trace, choice, token) for key, trace in drawn.items() if key in picked]
    if not lanes:
        st.caption("Pick a letter to draw its timeline.")
        return
    part = "step" if any(_has_steps(trace) for key, trace in drawn.items() if key in picked) else None
    view = st.query_params.get(ZOOM, choice.zoom)
    timelines(lanes, part=part, view=view, key="timeline", on_view=keep_view(ZOOM))


def _aside(traces: Sequence[ComparedTrace]) -> str:
    stepped = {_has_steps(trace) for trace in traces}
    if len(stepped) > 1:
        return "the step of middle length; the whole recording where no steps are marked"
    return "the step of middle length" if stepped == {True} else "the whole recording"


def _has_steps(trace: ComparedTrace) -> bool:
    return trace.summary is not None and bool(trace.summary.steps)


def _lane(trace: ComparedTrace, choice: Choice, token: str | None) -> Lane:
    assert trace.trace_id is not None, "only traces that are read have lanes"
    return Lane(
        key=trace.key,
        label=printable(trace.label),
        url=url_of_trace(trace.trace_id, token=token),
        baseline=trace.key == choice.base,
        summary=_summary(trace),
    )


def _summary(trace: ComparedTrace) -> str:
    """`31.8 ms kernel time · 1,029 kernels` of the step that is drawn, else of all that was recorded."""
    if trace.summary is None or not trace.summary.kernels:
        return ""
    steps = trace.contents.steps if trace.contents is not None else ()
    drawn = next((step.work for step in steps if trace.contents and step.name == trace.contents.typical), None)
    kernels = drawn.kernels if drawn is not None else trace.summary.kernels
    kernel_ns = drawn.kernel_ns if drawn is not None else trace.summary.kernel_sum_ns
    time = [f"{prose_time(kernel_ns)} kernel time"] if kernel_ns is not None else []
    return " · ".join([*time, *([count(kernels, "kernel")] if kernels is not None else [])])
