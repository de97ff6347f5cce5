"""What waits, in the order in which it will be measured."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from app import addresses, context
from app.devices import alive, kind
from app.formatting import about, ago, plural
from app.markup import link, muted, page, section
from app.pages.cancelling import cancel_button
from db import jobs
from db.views import JobView, WorkerView
from profiles.comparison.figures import workload_label


def show(queued: Sequence[JobView], workers: Sequence[WorkerView], *, busy: Sequence[JobView]) -> None:
    st.html(section("Queue", aside=escape(_aside(queued, workers, busy))))
    for position, job in enumerate(queued, start=1):
        with st.container(horizontal=True, vertical_alignment="center", key=f"queued-{job.id}", border=True):
            st.html(_row(position, job, workers))
            cancel_button(job)


def can_start(job: JobView, workers: Sequence[WorkerView]) -> bool:
    """Whether a worker that answers takes jobs of this device class."""
    devices = [worker.capabilities.device for worker in alive(workers)]
    return job.request.device in devices or job.request.device in map(kind, devices)


def _aside(queued: Sequence[JobView], workers: Sequence[WorkerView], busy: Sequence[JobView]) -> str:
    waiting = f"{len(queued):,} waiting"
    if not any(can_start(job, workers) for job in queued):
        return f"{waiting} · no worker that answers can take it; see Workers"
    return f"{waiting} · the next starts when {busy[0].request.name} has ended" if busy else f"{waiting} · starting"


def _row(position: int, job: JobView, workers: Sequence[WorkerView]) -> str:
    expected = jobs.expected_seconds(context.database(), job.request)
    labels = dict.fromkeys(workload_label(trial.workload) for trial in job.trials)
    more = f" and {len(labels) - 1} more" if len(labels) > 1 else ""
    runs = sum(len(trial.variants) for trial in job.trials)
    facts = (
        job.request.device if can_start(job, workers) else f"{job.request.device}: no worker",
        plural(runs, "run"),
        about(expected) if expected is not None else "",
        job.submitted_by or "",
        ago(job.submitted_at, context.now(), context.zone()),
    )
    return page(
        f'<div class="fs-head"><span class="fs-muted">{position}</span>'
        f"<span>{link(job.request.name, addresses.comparison(job.comparison_id), plain=True)}</span>"
        f"{muted(next(iter(labels)) + more)}{muted(' · '.join(filter(None, facts)))}</div>"
    )
