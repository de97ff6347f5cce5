"""Jobs with their runs in a real database, as workers leave them there, for tests of pages and routes."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

from db.jobs import submit_job
from db.runs import store_run
from db.session import Database
from db.store import TraceStore
from db.traces import StoredTrace, save_trace
from db.trials import claim_trial, finish_trial
from db.views import JobView, TrialStatus
from profiles.environment import Environment
from profiles.job import JobRequest, TrialRequest
from profiles.results import Run
from profiles.trace.summary import TraceSummary
from profiles.workload import Workload
from tests.app.timeline.drawn import timeline_of_run

WORKER = "gpu-07 cuda:0"


def store_job(
    db: Database,
    directory: Path,
    trials: Sequence[tuple[Workload, Sequence[Run]]],
    *,
    environment: Environment,
    name: str = "Attention ladder, S 2048",
    to_come: Sequence[str] = (),
) -> JobView:
    """Submit and measure a job; the variants `to_come` are still open in its last trial."""
    requests = [_request(workload, runs) for workload, runs in trials]
    if to_come:
        last = requests[-1]
        requests[-1] = TrialRequest(workload=last.workload, variants=(*last.variants, *to_come))
    job = submit_job(db, JobRequest(name=name, device=environment.device, trials=tuple(requests)))
    for trial, (workload, runs) in zip(job.trials, trials, strict=True):
        attempt = claim_trial(db, trial.id, worker=WORKER)
        assert attempt is not None
        for run in runs:
            store_run(
                db,
                trial_id=trial.id,
                worker=WORKER,
                attempt=attempt,
                run=run,
                environment=environment,
                trace=_trace(db, directory, workload, run, environment),
            )
        if not to_come or trial is not job.trials[-1]:
            assert finish_trial(db, trial.id, worker=WORKER, attempt=attempt, status=TrialStatus.DONE)
    return job


def _request(workload: Workload, runs: Sequence[Run]) -> TrialRequest:
    return TrialRequest(workload=workload, variants=tuple(run.variant for run in runs))


def _trace(db: Database, directory: Path, workload: Workload, run: Run, environment: Environment) -> StoredTrace | None:
    """The raw file is a stand-in that differs from run to run: pages draw the stored timeline."""
    if not run.kernels:
        return None
    path = directory / f"{run.variant.replace('@', '_')}.json.gz"
    path.write_bytes(gzip.compress(repr((workload, run.variant, run.metrics)).encode()))
    store = TraceStore((directory / "traces").as_uri())
    return save_trace(db, store, path, timeline_of_run(run, on_cpu=environment.device == "cpu"), SUMMARY)


SUMMARY = TraceSummary(
    kernels=18,
    memcpy=0,
    memset=0,
    launches=18,
    graph_launches=0,
    linked_kernels=18,
    kernel_sum_ns=1,
    kernel_busy_ns=1,
    gpu_busy_ns=1,
    gpu_span_ns=1,
    distinct_kernel_names=5,
    kernels_from_graph_launches=0,
    devices=(),
    steps=(),
    launched_before_window=0,
    health=(),
    format="kineto",
    unit="us",
    records=100,
)
