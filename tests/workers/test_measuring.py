"""The real measuring program, from a submitted job to the stored run and its timeline, on the CPU."""

from __future__ import annotations

import subprocess
import sys
import time

import msgspec
import pytest

from db.comparisons import comparison
from db.jobs import cancel_job, submit_job
from db.store import TraceStore
from profiles.job import JobRequest, TrialRequest
from profiles.plan import Plan
from profiles.results import RunStatus
from profiles.supervisor import MEASURE
from tests.db.traces_of_runs import timeline_of, trace_of
from tests.processes import is_alive, wait_until
from tests.workers.conftest import SWIGLU, Site
from workers.celery_app import TRACES_QUEUE, queues_of
from workers.dispatch import publish_job

pytestmark = pytest.mark.timeout(150)

QUICK = Plan(samples=20, steps=2, budget_s=2.0)


@pytest.mark.parametrize("site", ["embedded"], indirect=True)
def test_a_job_is_measured_by_the_real_program_and_its_trace_kept(site: Site) -> None:
    site.start_worker(program=MEASURE)
    request = JobRequest(
        name="Real", device="cpu", plan=QUICK, trials=(TrialRequest(workload=SWIGLU, variants=("unfused",)),)
    )
    job = submit_job(site.db, request)
    assert publish_job(site.settings, job)
    trial = site.wait_for(job, "done", "failed", within_s=90.0)
    run = trial.progress[0].run
    assert run is not None, site.logs()
    assert run.status is RunStatus.SUCCEEDED, run.failure
    assert run.counts is not None
    assert run.counts.operators == 5
    (entry,) = comparison(site.db, job.comparison_id).entries
    assert entry.run_id is not None
    assert len(timeline_of(site.db, entry.run_id).steps) == QUICK.steps
    with TraceStore(site.settings.traces_url).open(trace_of(site.db, entry.run_id).sha256) as raw:
        assert raw.read(2) == b"\x1f\x8b"


@pytest.mark.parametrize("site", ["embedded"], indirect=True)
def test_cancelling_the_real_program_leaves_nothing_of_it(site: Site) -> None:
    worker = site.start_worker(program=MEASURE)
    slow = msgspec.structs.replace(SWIGLU, axes={"rows": 4096, "width": 2048, "hidden": 5632})
    request = JobRequest(name="Real", device="cpu", trials=(TrialRequest(workload=slow, variants=("unfused",)),))
    job = submit_job(site.db, request)
    assert publish_job(site.settings, job)
    assert wait_until(lambda: "first_call" in site.trial(job).progress[0].passed, 60.0), site.logs()
    assert wait_until(lambda: len(worker.measuring) >= 2, 10.0), "the program and the fork that measures"
    measuring = worker.measuring
    cancel_job(site.db, job.id)
    cancelled = time.monotonic()
    site.wait_for(job, "cancelled", within_s=2.0)
    assert wait_until(lambda: not any(is_alive(process) for process in measuring), 0.5)
    assert time.monotonic() - cancelled < 2.0


def test_neither_dispatch_nor_the_worker_loads_torch() -> None:
    look = "import sys, workers.dispatch, workers.start; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", look], check=False).returncode == 0


@pytest.mark.parametrize(
    ("device", "queues"),
    [("cpu", ("fusescope.cpu", TRACES_QUEUE)), ("cuda:1", ("fusescope.cuda:1", "fusescope.cuda", TRACES_QUEUE))],
)
def test_a_worker_listens_for_its_own_device_for_any_of_its_kind_and_for_traces(
    device: str, queues: tuple[str, ...]
) -> None:
    assert queues_of(device) == queues
