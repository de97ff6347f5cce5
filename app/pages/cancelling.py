"""Cancelling takes a second step that says what stays.

Its buttons act in callbacks: those run before the script, where no poll of the page around them can cut them off.
"""

from __future__ import annotations

import streamlit as st

from app import context
from app.markup import muted, page
from db import jobs
from db.errors import IllegalMove
from db.views import JobView

BUTTON_PX = 100  # whatever it says


def cancel_button(job: JobView) -> None:
    """In a fragment: the page around it is not drawn anew between the two steps.

    What a step no longer has stays for a moment beside what is new, and goes then. Nothing that can be pressed may move
    with it: a press would end beside its button and be lost. So the first button becomes the way back (one key is one
    button), and the second step grows to the left of it.
    """
    if any(trial.cancel_requested for trial in job.trials):
        return
    question = _asked(job)
    is_asked = bool(st.session_state.get(question))
    with st.container(horizontal=True, vertical_alignment="center", width="content", key=f"cancelling-{job.id}"):
        with st.container(horizontal=True, vertical_alignment="center", width="content", key=f"cancel-step-{job.id}"):
            if is_asked:
                st.html(page(muted("What is measured stays.")), width="content")
                st.button(
                    "Cancel this job",
                    key=f"cancel-yes-{job.id}",
                    type="primary",
                    on_click=_cancel,
                    args=(job.id, question),
                )
        st.button(
            "Keep it" if is_asked else "Cancel",
            key=f"cancel-{job.id}",
            icon=None if is_asked else ":material/close:",
            width=BUTTON_PX,
            on_click=_ask,
            args=(question, not is_asked),
        )


def _ask(question: str, is_asked: bool) -> None:
    st.session_state[question] = is_asked


def _cancel(job_id: int, question: str) -> None:
    _ask(question, False)
    try:
        jobs.cancel_job(context.database(), job_id)
    except IllegalMove:
        st.toast("The job had ended already.")


def _asked(job: JobView) -> str:
    """Of these trials: a job that is tried again is not asked about, whatever press came late before."""
    return f"asked to cancel {job.id}, trial {max(trial.id for trial in job.trials)}"
