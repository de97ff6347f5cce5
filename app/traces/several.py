"""The page of several traces: the answer, their table, where the time goes, what differs, timelines and kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import streamlit as st

from app.charts.answer import answer_html
from app.charts.markup import full_name, key_box
from app.comparison.choice import Choice
from app.comparison.panels import pick_one
from app.markup import page, section
from app.traces.bars import bars_html
from app.traces.difference import differing_html
from app.traces.doubt import Findings, reasons
from app.traces.kernels import kernels_html
from app.traces.matches import matches_html, operators_html
from app.traces.ranks import ranks_html
from app.traces.readable import ReadTrace, readable, side_by_side, told
from app.traces.single import single
from app.traces.table import table_html
from app.traces.timelines import timeline_panel
from db.views import ComparisonView
from profiles.comparison.answer import Answer
from profiles.comparison.caveat import Caveat
from profiles.comparison.parts import text
from profiles.comparison.traces.answer import answer
from profiles.comparison.traces.caveat import OTHER_DEVICES, caveat
from profiles.comparison.traces.document import ComparedTraces, TraceDifference
from profiles.comparison.traces.entry import FEWEST
from profiles.comparison.traces.ranks import jobs

MOST_TOLD = 2
NO_KERNELS = "No GPU kernel is recorded in this file."


def several(view: ComparisonView, choose: Callable[[], Choice], *, token: str | None) -> None:
    """Until a second one is read, the first one's own page stands here."""
    read = readable(view.traces)
    answered = st.container()
    choice = choose()
    if len(read) < FEWEST:
        _one_so_far(view, choice, token=token)
        return
    shown = side_by_side(read, choice.base)
    found = told(shown, choice.base)
    worst = caveat(shown, found.baseline, differences=found.differences)
    answered.html(answer_html(_answer(shown, found), worst))
    st.html(table_html(found, view.traces))
    _reasons(found, read)
    _differences(found, worst)
    timeline_panel(view.traces, choice, token=token)
    _kernels(read, found.baseline)


def _answer(shown: Sequence[ReadTrace], found: ComparedTraces) -> Answer:
    """Of the first two candidates in words: more sentences would not be read, and the table has them all."""
    told = found.differences[:MOST_TOLD]
    keys = {found.baseline, *(one.candidate for one in told)}
    said = answer([trace for trace in shown if trace.key in keys], found.baseline, differences=told)
    left = len(found.differences) - len(told)
    return Answer((*said.parts, text(f" {left} more in the table."))) if left else said


def _one_so_far(view: ComparisonView, choice: Choice, *, token: str | None) -> None:
    """What is read first, then what was refused."""
    for trace in sorted(view.traces, key=lambda trace: trace.summary is None):
        if trace.summary is not None:
            st.html(page(f'<p>{key_box(trace.key)}<code class="fs-name">{full_name(trace.label)}</code></p>'))
        if not trace.pending:
            single(trace, choice, token=token)


def _reasons(found: ComparedTraces, read: Sequence[ReadTrace]) -> None:
    """Ranks are told of all that is read, also of more than are compared at once."""
    bars = bars_html(found.traces, base_key=found.baseline)
    if bars:
        st.html(bars)
    for job in jobs(read):
        if len(job.ranks) > 1:
            st.html(ranks_html(job))


def _differences(found: ComparedTraces, worst: Caveat | None) -> None:
    """Of one candidate against the baseline; which one is picked by its letter. That it ran on another model is said
    here, unless the caveat of them all has said it."""
    by_key = {difference.candidate: difference for difference in found.differences}
    keys = list(by_key)
    picked = keys[0]
    if len(keys) > 1:
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="panel-differences"):
            st.html(section("Differences", aside=f"from {found.baseline}"), width="content")
            picked = pick_one(keys, keys[0], key="cv")
    other = by_key[picked].other_devices
    if other and (len(keys) > 1 or worst is None or worst.label != OTHER_DEVICES):
        st.html(page(f'<p class="fs-muted">{escape(other)}.</p>'))
    _difference(by_key[picked])


def _difference(found: TraceDifference) -> None:
    """Where hardware differs, names do: what stands in for what comes first."""
    parts = [operators_html(found), matches_html(found)]
    by_name = differing_html(found, folded=found.incomparable is not None)
    for part in [by_name, *parts] if found.incomparable is None else [*parts, by_name]:
        if part:
            st.html(part)


def _kernels(traces: Sequence[ReadTrace], base_key: str) -> None:
    """Every kernel of one trace, and what its file lacks."""
    listed = {trace.key: (trace, trace.contents) for trace in traces if trace.contents is not None}
    if not listed:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="panel-kernels"):
        st.html(section("Kernels", aside="by name, over the whole recording"), width="content")
        picked = pick_one(list(listed), base_key if base_key in listed else next(iter(listed)), key="kv")
    trace, contents = listed[picked]
    findings = Findings(trace.summary)
    doubtful = reasons(trace.summary, "kernels", "kernel_sum_ns")
    st.html(kernels_html(contents, findings, reasons=doubtful) or page(f'<p class="fs-muted">{NO_KERNELS}</p>'))
    if notes := findings.notes():
        st.html(page(f'<b class="fs-label">Trace health</b>{notes}'))
