"""While a file waits or is read: what it waits for, and a fresh page as soon as that changes."""

from __future__ import annotations

from html import escape

import streamlit as st

from app.context import database
from app.markup import mono, page, prose
from app.traces.accepted import accepted_text
from app.traces.facts import NOT_THE_FILE, state_badge
from db import workers
from db.comparisons import comparison
from db.errors import NotFound
from db.shares import look_up_link
from db.views import ComparedTrace, ComparisonView, ImportStatus
from profiles.trace.printable import printable

EVERY_S = 1.5
NO_WORKER = "no worker answers; start one with `fusescope worker --device cpu`"


def is_open(view: ComparisonView) -> bool:
    return any(trace.pending for trace in view.traces)


def progress(view: ComparisonView) -> tuple[ImportStatus, ...]:
    return tuple(trace.status for trace in view.traces)


@st.fragment(run_every=EVERY_S)
def watch(comparison_id: int, seen: tuple[ImportStatus, ...], *, token: str | None = None) -> None:
    """Only these lines are polled: what a person reads or chooses below stays as it is until there is news. A token is
    looked up each time: a link that is revoked meanwhile closes."""
    view = _view(comparison_id, token)
    if view is None or progress(view) != seen:
        st.rerun(scope="app")
    alive = any(worker.alive for worker in workers.workers(database()))
    st.html(waiting_html([trace for trace in view.traces if trace.pending], has_worker=alive))


def _view(comparison_id: int, token: str | None) -> ComparisonView | None:
    """None where it was deleted meanwhile, or its link revoked."""
    if token is None:
        try:
            return comparison(database(), comparison_id)
        except NotFound:
            return None
    shared = look_up_link(database(), token)
    return None if shared is None else shared.comparison


def waiting_html(traces: list[ComparedTrace], *, has_worker: bool) -> str:
    """One line per file that is not read yet."""
    return page("".join(f"<p>{state_badge(trace)} {_line(trace, has_worker)}</p>" for trace in traces))


def refused_html(trace: ComparedTrace) -> str:
    """Why a file gave no trace, and what does where that is the file's affair."""
    reason = trace.failure.message if trace.failure is not None else "its trace is not stored"
    ours = trace.failure is not None and trace.failure.kind in NOT_THE_FILE
    accepted = "" if ours else f'<p class="fs-muted">Accepted: {escape(accepted_text())}</p>'
    return page(
        f'<p class="fs-answer">{mono(printable(trace.label))} could not be read.</p>'
        f"<p>{escape(printable(f'{reason[:1].upper()}{reason[1:]}.'))}</p>"
        f"{accepted}"
    )


def _line(trace: ComparedTrace, has_worker: bool) -> str:
    name = mono(printable(trace.label))
    if trace.status is ImportStatus.RUNNING:
        return f"{name} is being read; the page fills by itself"
    return f"{name}: {'a worker reads it when it is free' if has_worker else prose(NO_WORKER)}"
