"""Cancelling takes a second step that says what stays."""

from __future__ import annotations

import streamlit as st

from app import context
from db import jobs
from db.errors import IllegalMove
from db.views import JobView


def cancel_button(job: JobView) -> None:
    """In a fragment: the page around it is not drawn anew between the two steps."""
    asked = f"cancel asked {job.id}"
    if any(trial.cancel_requested for trial in job.trials):
        return
    if not st.session_state.get(asked):
        if st.button("Cancel", key=f"cancel-{job.id}", icon=":material/close:"):
            st.session_state[asked] = True
            st.rerun(scope="fragment")
        return
    with st.container(horizontal=True, vertical_alignment="center", width="content"):
        st.html('<div class="fs"><span class="fs-muted">What is measured stays.</span></div>', width="content")
        stop = st.button("Cancel this job", key=f"cancel-yes-{job.id}", type="primary")
        keep = st.button("Keep it", key=f"cancel-no-{job.id}")
    if stop:
        _cancel(job)
    if stop or keep:
        del st.session_state[asked]
        st.rerun(scope="fragment")


def _cancel(job: JobView) -> None:
    try:
        jobs.cancel_job(context.database(), job.id)
    except IllegalMove:
        st.toast(f"{job.request.name} had ended already.")
