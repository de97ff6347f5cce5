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

STEP_PX = 390  # of its own width, the buttons first: none moves under the pointer while its neighbours come


def cancel_button(job: JobView) -> None:
    """In a fragment: the page around it is not drawn anew between the two steps."""
    if any(trial.cancel_requested for trial in job.trials):
        return
    if not st.session_state.get(_asked(job.id)):
        st.button("Cancel", key=f"cancel-{job.id}", icon=":material/close:", on_click=_ask, args=(job.id, True))
        return
    with st.container(horizontal=True, vertical_alignment="center", width=STEP_PX, key=f"cancel-step-{job.id}"):
        st.button("Cancel this job", key=f"cancel-yes-{job.id}", type="primary", on_click=_cancel, args=(job.id,))
        st.button("Keep it", key=f"cancel-no-{job.id}", on_click=_ask, args=(job.id, False))
        st.html(page(muted("What is measured stays.")), width="content")


def _ask(job_id: int, is_asked: bool) -> None:
    st.session_state[_asked(job_id)] = is_asked


def _cancel(job_id: int) -> None:
    _ask(job_id, False)
    try:
        jobs.cancel_job(context.database(), job_id)
    except IllegalMove:
        st.toast("The job had ended already.")


def _asked(job_id: int) -> str:
    return f"asked to cancel {job_id}"
