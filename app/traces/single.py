"""The page of one trace: what it holds, what is doubtful about it, why the GPU was idle, and every kernel."""

from __future__ import annotations

import streamlit as st

from app.charts.answer import answer_html
from app.comparison.choice import Choice
from app.markup import page, section
from app.traces.counts import counts_html
from app.traces.devices import devices_html, idle_html
from app.traces.doubt import Findings, reasons
from app.traces.kernels import kernels_html
from app.traces.readable import ReadTrace, readable
from app.traces.steps import steps_html
from app.traces.timelines import timeline_panel
from app.traces.watch import refused_html
from db.views import ComparedTrace, ImportStatus
from profiles.comparison.traces.alone import alone, alone_caveat

NO_CONTENTS = "This trace was stored before kernels were kept by name: import its file again to see them."


def single(trace: ComparedTrace, choice: Choice, *, token: str | None) -> None:
    if trace.status is ImportStatus.FAILED:
        st.html(refused_html(trace))
    for read in readable([trace]):
        st.html(answer_html(alone(read), alone_caveat(read)))
        findings = Findings(read.summary)
        _figures(read, findings)
        timeline_panel([trace], choice, token=token)
        _kernels(read)
        _machine(read, findings)


def _figures(trace: ReadTrace, findings: Findings) -> None:
    """Counts beside the reasons for idle time; the findings below explain the marks of both."""
    left, right = st.container(key="reasons").columns([1, 1], gap="large")
    left.html(counts_html(trace.summary, trace.contents, findings))
    idle = idle_html(trace.summary, findings)
    if idle:
        right.html(idle)
    if notes := findings.notes():
        st.html(page(f'<div class="fs-health-notes"><b class="fs-label">Trace health</b>{notes}</div>'))


def _kernels(trace: ReadTrace) -> None:
    if trace.contents is None:
        st.html(page(f'<p class="fs-muted">{NO_CONTENTS}</p>'))
        return
    doubtful = reasons(trace.summary, "kernels", "kernel_sum_ns")
    listed = kernels_html(trace.contents, Findings(trace.summary), reasons=doubtful)
    if listed:
        st.html(section("Kernels", aside="by name, over the whole recording") + listed)


def _machine(trace: ReadTrace, findings: Findings) -> None:
    steps = steps_html(trace.contents, findings) if trace.contents is not None else ""
    for part in (steps, devices_html(trace.summary, findings)):
        if part:
            st.html(part)
