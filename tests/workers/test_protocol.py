"""The life of a trial between broker, database and workers, with everything killed that can be."""

from __future__ import annotations

import os
import signal
import time

from db.jobs import cancel_job
from db.views import JobStatus, TrialView
from db.workers import workers as registered_workers
from profiles.results import FailureKind, RunStatus
from tests.processes import wait_until
from tests.workers.conftest import VARIANTS, Site
from workers.dispatch import publish_job, publish_trial

HANG = ("unfused=sleep:60",)


def statuses(trial: TrialView) -> list[RunStatus | None]:
    return [progress.run and progress.run.status for progress in trial.progress]


def test_a_submitted_job_is_measured_and_its_runs_are_stored(site: Site) -> None:
    site.start_worker()
    job = site.submit()
    trial = site.wait_for(job, "done", "failed")
    assert [progress.variant for progress in trial.progress] == list(VARIANTS)
    assert statuses(trial) == [RunStatus.SUCCEEDED] * 2
    assert site.job(job).status is JobStatus.DONE
    assert trial.attempt == 1


def test_a_worker_is_listed_while_it_lives_and_gone_when_it_stops(site: Site) -> None:
    worker = site.start_worker()
    assert wait_until(lambda: registered_workers(site.db), 10.0)
    (listed,) = registered_workers(site.db)
    assert (listed.alive, listed.capabilities.device) == (True, "cpu")
    worker.stop()
    assert registered_workers(site.db) == ()


def test_progress_is_seen_while_a_trial_runs(site: Site) -> None:
    worker = site.start_worker(*HANG)
    job = site.submit()
    site.wait_until_measuring(job, worker)
    first, second = site.trial(job).progress
    assert (first.current, first.so_far) == ("timed", "11 of 30")
    assert second.current is None


def test_a_killed_measuring_child_fails_its_variant_with_the_signal_and_the_others_go_on(site: Site) -> None:
    worker = site.start_worker(*HANG)
    job = site.submit()
    site.wait_until_measuring(job, worker)
    (child,) = worker.measuring
    child.kill()
    trial = site.wait_for(job, "done", "failed")
    assert statuses(trial) == [RunStatus.FAILED, RunStatus.SUCCEEDED]
    failed = trial.progress[0].run
    assert failed is not None
    assert failed.failure is not None
    assert failed.failure.message == "killed by SIGKILL while being timed"


def test_a_killed_pool_process_takes_its_child_along_and_the_trial_is_measured_again(site: Site) -> None:
    worker = site.start_worker("unfused@compile=sleep:2.5")
    job = site.submit()
    site.wait_until_measuring(job, worker)
    assert wait_until(lambda: statuses(site.trial(job))[0], 5.0), "the first variant's run is stored at once"
    children = worker.measuring
    worker.pool.kill()
    assert wait_until(lambda: not any(child.is_running() for child in children), 2.0)
    trial = site.wait_for(job, "done", "failed")
    assert (trial.attempt, statuses(trial)) == (2, [RunStatus.SUCCEEDED] * 2)


def test_a_killed_worker_leaves_no_process_and_another_takes_its_trial(site: Site) -> None:
    worker = site.start_worker(*HANG)
    job = site.submit()
    site.wait_until_measuring(job, worker)
    worker.process.kill()
    worker.process.wait()
    assert wait_until(lambda: not worker.everything, 2.0), worker.everything
    site.start_worker(name="second")
    trial = site.wait_for(job, "done", "failed")
    assert (trial.attempt, statuses(trial)) == (2, [RunStatus.SUCCEEDED] * 2)


def test_a_trial_that_loses_two_workers_fails_as_such(site: Site) -> None:
    worker = site.start_worker(*HANG)
    job = site.submit()
    for attempt in (1, 2):
        assert wait_until(lambda n=attempt: site.trial(job).attempt == n and worker.measuring, 15.0), site.logs()
        worker.pool.kill()
    trial = site.wait_for(job, "failed")
    assert trial.failure is not None
    assert trial.failure.kind is FailureKind.WORKER_LOST
    assert statuses(trial) == [RunStatus.FAILED] * 2


def test_a_second_delivery_of_a_trial_finds_nothing_to_claim(site: Site) -> None:
    worker = site.start_worker("unfused=sleep:0.5")
    job = site.submit()
    for _ in range(3):
        publish_trial(site.settings, job.trials[0].id, "cpu")
    site.wait_for(job, "done")
    assert wait_until(lambda: worker.log.read_text().count("nothing to claim") == 3, 5.0), site.logs()
    assert site.trial(job).attempt == 1


def test_a_trial_whose_message_was_lost_is_measured(site: Site) -> None:
    job = site.submit()
    assert site.broker.queued() == 1
    site.broker.purge()
    site.start_worker()
    assert site.wait_for(job, "done", "failed").attempt == 1


def test_a_job_submitted_while_the_broker_is_down_is_measured_once_it_is_back(site: Site) -> None:
    site.broker.kill()
    job = site.submit(publish=False)
    before = time.monotonic()
    assert not publish_job(site.settings, job)
    assert time.monotonic() - before < 3.0
    site.broker.start()
    site.start_worker()
    assert site.wait_for(job, "done", "failed").attempt == 1


def test_a_killed_broker_costs_neither_the_running_trial_nor_the_waiting_ones(site: Site) -> None:
    worker = site.start_worker("unfused=sleep:2")
    running, waiting = site.submit(), site.submit()
    site.wait_until_measuring(running, worker)
    site.broker.kill()
    time.sleep(0.5)
    site.broker.start()
    assert site.wait_for(running, "done", "failed").attempt == 1
    assert site.wait_for(waiting, "done", "failed", within_s=25.0).attempt == 1
    assert worker.process.poll() is None


def test_a_paused_worker_that_comes_back_is_fenced_off(site: Site) -> None:
    paused = site.start_worker("unfused=sleep:1")
    job = site.submit()
    site.wait_until_measuring(job, paused)
    paused.signal_all(signal.SIGSTOP)
    try:
        site.start_worker(name="second")
        assert site.wait_for(job, "done", "failed").attempt == 2
        stored = [progress.run for progress in site.trial(job).progress]
    finally:
        paused.signal_all(signal.SIGCONT)
    assert wait_until(lambda: "given to another worker" in paused.log.read_text(), 10.0), site.logs()
    assert wait_until(lambda: not paused.measuring, 2.0)
    assert [progress.run for progress in site.trial(job).progress] == stored


def test_cancelling_frees_everything_within_two_seconds_and_the_next_job_runs(site: Site) -> None:
    worker = site.start_worker("unfused=stray:60")
    job, following = site.submit(), site.submit()
    site.wait_until_measuring(job, worker)
    before = {process.pid for process in worker.everything} - {worker.process.pid, worker.pool.pid}
    cancel_job(site.db, job.id)
    cancelled = time.monotonic()
    site.wait_for(job, "cancelled", within_s=2.0)
    assert not before & {process.pid for process in worker.everything}
    assert time.monotonic() - cancelled < 2.0
    assert statuses(site.trial(job)) == [RunStatus.CANCELLED] * 2
    site.wait_until_measuring(following, worker)
    cancel_job(site.db, following.id)
    site.wait_for(following, "cancelled", within_s=2.0)


def test_a_stopped_worker_gives_its_trial_back_at_once(site: Site) -> None:
    worker = site.start_worker(*HANG)
    job = site.submit()
    site.wait_until_measuring(job, worker)
    before = time.monotonic()
    os.kill(worker.process.pid, signal.SIGTERM)
    assert worker.process.wait(5.0) == 0
    assert time.monotonic() - before < 5.0
    site.start_worker(name="second")
    assert site.wait_for(job, "done", "failed", within_s=10.0).attempt == 2


def test_a_trial_for_a_device_that_nobody_has_waits_and_its_queue_does_not_grow(site: Site) -> None:
    site.start_worker()
    waiting, done = site.submit(device="cuda:3"), site.submit()
    site.wait_for(done, "done")
    time.sleep(2.5)
    assert site.trial(waiting).status == "queued"
    assert site.broker.queued("fusescope.cuda:3") == 1


def test_a_child_that_cannot_start_fails_the_trial_with_its_own_words(site: Site) -> None:
    site.start_worker("start=exit:no CUDA-capable device is detected")
    trial = site.wait_for(site.submit(), "failed")
    assert trial.failure is not None
    assert "did not start: exited with status 1: RuntimeError: no CUDA-capable device is detected" in (
        trial.failure.message
    )
