"""The card of a running job."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from app import addresses, context
from app.formatting import about as about_seconds
from app.formatting import clock, plural, seconds
from app.markup import Tone, badge, link, muted, page
from app.pages.cancelling import cancel_button
from app.pages.progress_table import doing, job_share, progress_table
from db import jobs
from db.views import JobView, TrialStatus, TrialView, WorkerView
from profiles.comparison.figures import workload_label


def card(job: JobView, workers: Sequence[WorkerView]) -> None:
    running = [trial for trial in job.trials if trial.status is TrialStatus.RUNNING]
    with st.container(border=True, key=f"job-{job.id}"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.html(_head(job, running, workers), width="content")
            cancel_button(job)
        for trial in running:
            st.html(_progress(job, trial) + progress_table(trial))
        if not running:
            st.html(page(f'<p class="fs-muted">{_between_trials(job)}</p>'))


def _head(job: JobView, running: Sequence[TrialView], workers: Sequence[WorkerView]) -> str:
    names = {worker.trial_id: worker.capabilities.device_name for worker in workers if worker.trial_id is not None}
    device = next((names[trial.id] for trial in running if trial.id in names), job.request.device)
    started = min((trial.started_at for trial in job.trials if trial.started_at is not None), default=None)
    by = f" by {job.submitted_by}" if job.submitted_by else ""
    told = [device, f"started {clock(started, context.zone())}{by}" if started else ""]
    told += [f"attempt {running[0].attempt}"] if running and running[0].attempt > 1 else []
    there = link("What is there so far", addresses.comparison(job.comparison_id))
    name = f"<h3>{escape(job.request.name)}</h3>{badge(_where(job, running), Tone.RUN)}"
    return page(f'<div class="fs-head">{name}{muted(" · ".join(filter(None, told)))}{there}</div>')


def _where(job: JobView, running: Sequence[TrialView]) -> str:
    if any(trial.cancel_requested for trial in running):
        return "stopping"
    if not running:
        return "running"
    if len(job.trials) == 1:
        return "running"
    return f"running · trial {job.trials.index(running[0]) + 1} of {len(job.trials)}"


def _progress(job: JobView, trial: TrialView) -> str:
    expected = jobs.expected_seconds(context.database(), job.request)
    passed = (context.now() - trial.started_at).total_seconds() if trial.started_at else 0.0
    took = seconds(passed) + (f" of {about_seconds(expected)}" if expected and len(job.trials) == 1 else "")
    share = job_share(job)
    name = f"{muted(workload_label(trial.workload))} · " if len(job.trials) > 1 else ""
    bar = f'role="progressbar" aria-valuenow="{100 * share:.0f}" aria-label="{escape(job.request.name)}"'
    return page(
        f'<div class="fs-progress" {bar}><i style="width:{100 * share:.1f}%"></i></div>'
        f'<div class="fs-between"><span>{name}{doing(trial)}</span><span class="fs-muted">{took}</span></div>'
    )


def _between_trials(job: JobView) -> str:
    waiting = sum(trial.status is TrialStatus.QUEUED for trial in job.trials)
    return f"{plural(waiting, 'trial')} waiting for a worker."
