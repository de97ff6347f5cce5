"""What becomes of jobs in a worker that nothing happens to."""

from __future__ import annotations

import time

import pytest

from db.comparisons import comparison
from db.jobs import cancel_job
from db.store import TraceStore
from db.views import JobStatus, TrialView
from db.workers import workers as registered_workers
from profiles.results import RunStatus
from tests.processes import is_alive, wait_until
from tests.workers.conftest import (
    CANNOT_START,
    CODE,
    HANGS,
    LEAVES_CODE,
    LEAVES_THE_GROUP,
    TAKES_A_WHILE,
    VARIANTS,
    Site,
)
from workers.dispatch import publish_trial

pytestmark = pytest.mark.timeout(90)


def statuses(trial: TrialView) -> list[RunStatus | None]:
    return [progress.run and progress.run.status for progress in trial.progress]


def test_a_submitted_job_is_measured_and_its_runs_are_stored(calm_site: Site) -> None:
    job = calm_site.submit()
    trial = calm_site.wait_for(job, "done", "failed")
    assert [progress.variant for progress in trial.progress] == list(VARIANTS)
    assert statuses(trial) == [RunStatus.SUCCEEDED] * 2
    assert calm_site.job(job).status is JobStatus.DONE
    assert trial.attempt == 1


def test_generated_code_is_kept_and_the_ceilings_are_measured_once(calm_site: Site) -> None:
    first, second = calm_site.submit(seed=LEAVES_CODE), calm_site.submit(seed=LEAVES_CODE)
    calm_site.wait_for(second, "done")
    run = calm_site.trial(first).progress[0].run
    assert run is not None
    (artefact,) = run.artefacts
    assert TraceStore(calm_site.settings.traces_url).read_artefact(artefact.sha256) == CODE.encode()
    shown = [comparison(calm_site.db, job.comparison_id).entries[0].ceilings for job in (first, second)]
    assert shown[0] is not None
    assert shown[1] == shown[0]
    assert calm_site.logs().count("ceilings measured") == 1


def test_a_worker_is_listed_with_what_it_can_do_and_what_it_measures(calm_site: Site) -> None:
    job = calm_site.submit(seed=HANGS)
    calm_site.wait_until_measuring(job)
    (listed,) = registered_workers(calm_site.db)
    assert (listed.alive, listed.capabilities.device, listed.trial_id) == (True, "cpu", job.trials[0].id)
    cancel_job(calm_site.db, job.id)
    calm_site.wait_for(job, "cancelled")


def test_progress_is_seen_while_a_trial_runs(calm_site: Site) -> None:
    job = calm_site.submit(seed=HANGS)
    calm_site.wait_until_measuring(job)
    first, second = calm_site.trial(job).progress
    assert (first.current, first.so_far) == ("timed", "11 of 30")
    assert second.current is None
    cancel_job(calm_site.db, job.id)
    calm_site.wait_for(job, "cancelled")


def test_a_killed_measuring_child_fails_its_variant_with_the_signal_and_the_others_go_on(calm_site: Site) -> None:
    job = calm_site.submit(seed=HANGS)
    calm_site.wait_until_measuring(job)
    (child,) = calm_site.workers[0].measuring
    child.kill()
    trial = calm_site.wait_for(job, "done", "failed")
    assert statuses(trial) == [RunStatus.FAILED, RunStatus.SUCCEEDED]
    failed = trial.progress[0].run
    assert failed is not None
    assert failed.failure is not None
    assert failed.failure.message == "killed by SIGKILL while being timed"


def test_a_second_delivery_of_a_trial_finds_nothing_to_claim(calm_site: Site) -> None:
    job = calm_site.submit(seed=TAKES_A_WHILE)
    for _ in range(3):
        publish_trial(calm_site.settings, job.trials[0].id, "cpu")
    calm_site.wait_for(job, "done")
    nothing = f"trial {job.trials[0].id}: nothing to claim"
    assert wait_until(lambda: calm_site.logs().count(nothing) == 3, 5.0), calm_site.logs()
    assert calm_site.trial(job).attempt == 1


def test_a_trial_whose_message_was_lost_is_measured(calm_site: Site) -> None:
    busy = calm_site.submit(seed=HANGS)
    calm_site.wait_until_measuring(busy)
    job = calm_site.submit()
    assert calm_site.broker.queued() == 1
    calm_site.broker.purge()
    cancel_job(calm_site.db, busy.id)
    assert calm_site.wait_for(job, "done", "failed").attempt == 1


def test_cancelling_frees_everything_within_two_seconds_and_the_next_job_runs(calm_site: Site) -> None:
    job, following = calm_site.submit(seed=LEAVES_THE_GROUP), calm_site.submit()
    calm_site.wait_until_measuring(job)
    measuring = calm_site.workers[0].measuring
    assert {process.name() for process in measuring} >= {"sleep"}
    cancel_job(calm_site.db, job.id)
    cancelled = time.monotonic()
    calm_site.wait_for(job, "cancelled", within_s=2.0)
    assert wait_until(lambda: not any(is_alive(process) for process in measuring), 0.5)
    assert time.monotonic() - cancelled < 2.0
    assert statuses(calm_site.trial(job)) == [RunStatus.CANCELLED] * 2
    assert calm_site.wait_for(following, "done", "failed").attempt == 1


def test_a_job_that_is_cancelled_while_it_waits_is_never_measured(calm_site: Site) -> None:
    busy = calm_site.submit(seed=HANGS)
    calm_site.wait_until_measuring(busy)
    waiting = calm_site.submit()
    cancel_job(calm_site.db, waiting.id)
    cancel_job(calm_site.db, busy.id)
    nothing = f"trial {waiting.trials[0].id}: nothing to claim"
    assert wait_until(lambda: nothing in calm_site.logs(), 10.0), calm_site.logs()
    assert (calm_site.trial(waiting).status, calm_site.trial(waiting).attempt) == ("cancelled", 0)


def test_a_trial_for_a_device_that_nobody_has_waits_and_its_queue_does_not_grow(calm_site: Site) -> None:
    waiting, done = calm_site.submit(device="cuda:3"), calm_site.submit()
    calm_site.wait_for(done, "done")
    time.sleep(2.5)  # more than twice the time after which a message may count as lost
    assert calm_site.trial(waiting).status == "queued"
    assert calm_site.broker.queued("fusescope.cuda:3") == 1
    cancel_job(calm_site.db, waiting.id)


def test_a_child_that_cannot_start_fails_the_trial_with_its_own_words(calm_site: Site) -> None:
    trial = calm_site.wait_for(calm_site.submit(seed=CANNOT_START), "failed")
    assert trial.failure is not None
    assert "did not start: exited with status 1: RuntimeError: no CUDA-capable device is detected" in (
        trial.failure.message
    )
