"""The way on from a job that failed or was cancelled: try again, or change it."""

from __future__ import annotations

import streamlit as st

from app import addresses, context, submission
from app.advice import next_step
from app.forms.links import query
from app.markup import page, prose
from app.pages import links
from db.errors import IllegalMove
from db.jobs import job
from db.views import JobView


def way_on(job_id: int) -> None:
    found = job(context.database(), job_id)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="way-on"):
        st.html(page(f'<p class="fs-muted">{prose(next_step(found))}</p>'), width="content")
        if st.button("Retry", icon=":material/replay:"):
            _retry(found)
        if st.button("Change", icon=":material/edit:"):
            links.go(addresses.NEW_JOB, query(found.request))


def _retry(found: JobView) -> None:
    """Someone else may have been first."""
    try:
        submission.retry(found.id)
    except IllegalMove as error:
        st.toast(str(error))
        return
    st.rerun()
