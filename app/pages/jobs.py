"""Jobs: what runs now with live progress, what waits, what ended and why. It polls, seldom while nothing is open."""

from __future__ import annotations

import streamlit as st

from app import addresses, context
from app.advice import was_cancelled, went_wrong
from app.devices import alive
from app.markup import link, page, section, title
from app.pages import ended_jobs, links, paging, queue, running_jobs
from db import jobs, workers
from db.views import JobStatus

POLL_S = 2.0
IDLE_POLL_S = 10.0
PER_PAGE = 20


def render() -> None:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.html(title("Jobs"), width="content")
        links.page_link("New job", addresses.NEW_JOB, icon=":material/add:")
    is_open = bool(jobs.open_jobs(context.database()))
    st.fragment(_live, run_every=POLL_S if is_open else IDLE_POLL_S)(was_open=is_open)


def _live(*, was_open: bool) -> None:
    """Everything that changes by itself. When the first job comes or the last one ends, the pace of polling changes."""
    database = context.database()
    current = jobs.open_jobs(database)
    if was_open != bool(current):
        st.rerun()
    known = workers.workers(database)
    running = [job for job in current if job.status is JobStatus.RUNNING]
    queued = [job for job in current if job.status is JobStatus.QUEUED]
    for job in running:
        running_jobs.card(job, known)
    if queued:
        queue.show(queued, known, busy=running)
    if not current:
        _nothing_open(has_worker=bool(alive(known)))
    _ended()


def _nothing_open(*, has_worker: bool) -> None:
    then = (
        "A new job starts at once." if has_worker else f"No worker answers: see {link('Workers', addresses.WORKERS)}."
    )
    st.html(page(f'<p class="fs-empty"><b>Nothing runs and nothing waits.</b> {then}</p>'))


def _ended() -> None:
    database = context.database()
    found = paging.current(lambda first: jobs.ended_jobs(database, offset=first, limit=PER_PAGE), PER_PAGE)
    if not found.total:
        return
    st.html(section("Ended"))
    wrong = [job for job in found.items if went_wrong(job)]
    cancelled = [job for job in found.items if was_cancelled(job) and job not in wrong]
    for job in wrong:
        ended_jobs.card(job)
    for job in cancelled:
        ended_jobs.line(job)
    ended_jobs.rows([job for job in found.items if job not in wrong and job not in cancelled])
    paging.pager(found.total, PER_PAGE)
