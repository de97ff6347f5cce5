"""The devices, as a short list: what each is, and what it measures now."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from app import addresses
from app.markup import Tone, badge, link, muted, page, section
from app.pages.progress_table import job_share
from db.views import JobView, TrialStatus, WorkerView

HEADING = section("Devices")


def show(workers: Sequence[WorkerView], open_jobs: Sequence[JobView]) -> None:
    if not workers:
        st.html(
            HEADING
            + page(
                '<p class="fs-empty"><b>No worker has announced itself.</b> '
                "Start one on the machine with the device:</p>"
            )
        )
        st.code("fusescope worker --device cpu", language=None)
        return
    gpus_first = sorted(workers, key=lambda worker: (worker.capabilities.device == "cpu", worker.name))
    st.html(HEADING + page("".join(_device(worker, open_jobs) for worker in gpus_first)))


def state(worker: WorkerView) -> tuple[str, Tone]:
    if not worker.alive:
        return "lost", Tone.WARN
    return ("idle", Tone.IDLE) if worker.trial_id is None else ("measuring", Tone.RUN)


def _device(worker: WorkerView, open_jobs: Sequence[JobView]) -> str:
    facts = worker.capabilities
    torch = f"torch {facts.torch}" if facts.torch else "torch is not installed"
    line = " · ".join(filter(None, (facts.host, torch)))
    return (
        f'<div class="fs-device"><div><span>{escape(facts.device_name)}</span>{badge(*state(worker))}</div>'
        f'<div class="fs-muted">{escape(line)}</div>{_measuring(worker, open_jobs)}</div>'
    )


def _measuring(worker: WorkerView, open_jobs: Sequence[JobView]) -> str:
    for job in open_jobs:
        for trial in job.trials:
            if worker.trial_id == trial.id and trial.status is TrialStatus.RUNNING:
                return _progress(job)
    return ""


def _progress(job: JobView) -> str:
    percent = 100 * job_share(job)
    return (
        f"<div>{link(job.request.name, addresses.JOBS)} {muted(f'{percent:.0f} %')}</div>"
        f'<div class="fs-progress"><i style="width:{percent:.0f}%"></i></div>'
    )
