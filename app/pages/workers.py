"""Workers: which devices answer, what each can measure, and how to start another."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from app import context
from app.devices import refusals
from app.formatting import NOT_RECORDED, ago, memory
from app.markup import badge, facts, mono, muted, page, section, table, title
from app.pages.device_list import state
from db import jobs, workers
from db.views import JobView, WorkerView
from profiles import catalog
from profiles.workload import DType, Workload

POLL_S = 5


def render() -> None:
    st.html(title("Workers", lead="One worker measures on one device, one trial at a time."))
    st.fragment(_live, run_every=POLL_S)()
    st.html(section("Start another", aside="on the machine with the device; it announces itself here"))
    st.code("fusescope worker --device cuda:0", language=None)
    st.html(page(f'<p class="fs-muted">{_settings_hint()}</p>'))


def _live() -> None:
    database = context.database()
    known = workers.workers(database)
    if not known:
        st.html(
            page(
                '<p class="fs-empty"><b>No worker has announced itself.</b> '
                "Jobs wait until one does. <code>fusescope up</code> starts one for each device of this machine.</p>"
            )
        )
        return
    open_jobs = jobs.open_jobs(database)
    head = (("Device", ""), ("State", ""), ("Measures now", "fs-wide"), ("Memory", "num fs-wide"), ("torch", "fs-wide"))
    st.html(table((*head, ("Worker", "fs-wide"), ("Heard from", "num")), (_row(w, open_jobs) for w in known)))
    st.space("small")
    st.html(section("What each measures", aside="a forecast; the check on the device has the last word"))
    for worker in known:
        with st.expander(
            f"{worker.capabilities.device_name} · {worker.capabilities.host}", key=f"worker-{worker.name}"
        ):
            st.html(_versions(worker) + _can_measure(worker))


def _row(worker: WorkerView, open_jobs: Sequence[JobView]) -> str:
    facts_ = worker.capabilities
    memory_text = memory(facts_.memory_bytes) if facts_.memory_bytes is not None else NOT_RECORDED
    where = f"<small>{mono(facts_.device)} on {escape(facts_.host)}</small>"
    return (
        f'<tr class="two"><th scope="row">{escape(facts_.device_name)}<br>{where}</th>'
        f'<td>{badge(*state(worker))}</td><td class="fs-wide">{escape(_job_name(worker, open_jobs))}</td>'
        f'<td class="num fs-wide">{memory_text}</td><td class="fs-wide">{escape(facts_.torch or "not installed")}</td>'
        f'<td class="fs-wide">{mono(worker.name)}</td>'
        f'<td class="num fs-muted fs-nowrap">{ago(worker.seen_at, context.now(), context.zone())}</td></tr>'
    )


def _job_name(worker: WorkerView, open_jobs: Sequence[JobView]) -> str:
    named = (job.request.name for job in open_jobs for trial in job.trials if trial.id == worker.trial_id)
    return next(named, NOT_RECORDED)


def _versions(worker: WorkerView) -> str:
    installed = worker.capabilities.packages.items()
    versions = ", ".join(f"{mono(name)} {escape(version)}" for name, version in sorted(installed)) or NOT_RECORDED
    compiler = "found" if worker.capabilities.compiler else "not found: variants @compile are refused on a CPU"
    since = ago(worker.started_at, context.now(), context.zone())
    return facts((("Packages", versions), ("C++ compiler", compiler), ("Started", escape(since))))


def _can_measure(worker: WorkerView) -> str:
    """For each operation, in the dtype that suits the device: what is ready, and why the rest is not."""
    dtype = DType.FP32 if worker.capabilities.device == "cpu" else DType.BF16
    rows = "".join(_operation_rows(operation, dtype, worker) for operation in catalog.OPERATIONS)
    return table((("Operation", ""), ("Ready", ""), ("Will be refused", "fs-wide")), (rows,))


def _operation_rows(operation: catalog.Operation, dtype: DType, worker: WorkerView) -> str:
    asked = Workload(operation=operation.name, axes={}, dtype=dtype)
    reasons = {variant: refusals(variant, asked, (worker,)) for variant in catalog.variants(operation)}
    ready = ", ".join(mono(str(variant)) for variant, reason in reasons.items() if reason is None)
    refused = "<br>".join(f"{mono(str(v))} {muted(reason)}" for v, reason in reasons.items() if reason is not None)
    return (
        f'<tr><th scope="row">{escape(operation.title)} {muted(str(dtype))}</th>'
        f'<td>{ready or muted("nothing")}</td><td class="fs-wide">{refused}</td></tr>'
    )


def _settings_hint() -> str:
    shared = (
        "<code>FUSESCOPE_DATABASE_URL</code>, <code>FUSESCOPE_REDIS_URL</code> and <code>FUSESCOPE_TRACES_URL</code>"
    )
    return f"On another machine, {shared} tell it where the others are."
