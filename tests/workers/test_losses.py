"""What becomes of a trial when its worker or the broker is killed, paused or stopped."""

from __future__ import annotations

import os
import signal
import time

import psycopg
import pytest

from db.views import TrialView
from db.workers import workers as registered_workers
from profiles.results import FailureKind, RunStatus
from tests.conftest import POSTGRES
from tests.processes import is_alive, wait_until
from tests.workers.conftest import Site
from workers.dispatch import publish_job

pytestmark = pytest.mark.timeout(90)

HANGS = "unfused=sleep:60"


def statuses(trial: TrialView) -> list[RunStatus | None]:
    return [progress.run and progress.run.status for progress in trial.progress]


def test_a_killed_pool_process_takes_its_child_along_and_the_next_attempt_measures_the_rest(site: Site) -> None:
    worker = site.start_worker("unfused@compile=sleep:2.5")
    job = site.submit()
    assert wait_until(lambda: statuses(site.trial(job))[0], 20.0), "the first variant's run is stored at once"
    stored = site.trial(job).progress[0].run
    children = worker.measuring
    worker.pool.kill()
    assert wait_until(lambda: not any(is_alive(child) for child in children), 2.0)
    trial = site.wait_for(job, "done", "failed")
    assert (trial.attempt, statuses(trial)) == (2, [RunStatus.SUCCEEDED] * 2)
    assert trial.progress[0].run == stored


def test_a_killed_worker_leaves_no_process_and_another_takes_its_trial(site: Site) -> None:
    worker = site.start_worker(HANGS)
    job = site.submit()
    site.wait_until_measuring(job)
    worker.process.kill()
    worker.process.wait()
    assert wait_until(lambda: not worker.everything, 2.0), worker.everything
    site.start_worker(name="second")
    trial = site.wait_for(job, "done", "failed")
    assert (trial.attempt, statuses(trial)) == (2, [RunStatus.SUCCEEDED] * 2)


def test_a_trial_that_loses_two_workers_fails_as_such(site: Site) -> None:
    worker = site.start_worker(HANGS)
    job = site.submit()
    for attempt in (1, 2):
        assert wait_until(lambda n=attempt: site.trial(job).attempt == n and worker.measuring, 20.0), site.logs()
        worker.pool.kill()
    trial = site.wait_for(job, "failed")
    assert trial.failure is not None
    assert trial.failure.kind is FailureKind.WORKER_LOST
    assert statuses(trial) == [RunStatus.FAILED] * 2


def test_a_job_submitted_while_the_broker_is_down_is_measured_once_it_is_back(site: Site) -> None:
    site.broker.kill()
    job = site.submit(publish=False)
    before = time.monotonic()
    assert not publish_job(site.settings, job)
    assert time.monotonic() - before < 2.0, "a page waits for this"
    site.broker.start()
    site.start_worker()
    assert site.wait_for(job, "done", "failed").attempt == 1


def test_a_killed_broker_costs_neither_the_running_trial_nor_the_waiting_ones(site: Site) -> None:
    worker = site.start_worker("unfused=sleep:2")
    running, waiting = site.submit(), site.submit()
    site.wait_until_measuring(running)
    site.broker.kill()
    time.sleep(0.5)
    site.broker.start()
    assert site.wait_for(running, "done", "failed").attempt == 1
    assert site.wait_for(waiting, "done", "failed").attempt == 1
    assert worker.process.poll() is None


def test_a_paused_worker_that_comes_back_is_fenced_off(site: Site) -> None:
    measured = site.settings.state / "measured"
    paused = site.start_worker(f"unfused=await:{measured}")
    job = site.submit()
    site.wait_until_measuring(job)
    paused.signal_all(signal.SIGSTOP)
    try:
        site.start_worker(name="second")
        assert site.wait_for(job, "done", "failed").attempt == 2
        stored = [progress.run for progress in site.trial(job).progress]
        measured.touch()
    finally:
        paused.signal_all(signal.SIGCONT)
    assert wait_until(lambda: "given to another worker" in paused.log.read_text(), 10.0), site.logs()
    assert wait_until(lambda: not paused.measuring, 2.0)
    assert [progress.run for progress in site.trial(job).progress] == stored


def test_a_stopped_worker_gives_its_trial_back_at_once_and_is_no_longer_listed(site: Site) -> None:
    worker = site.start_worker(HANGS)
    job = site.submit()
    site.wait_until_measuring(job)
    os.kill(worker.process.pid, signal.SIGTERM)
    assert worker.process.wait(8.0) == 0
    assert registered_workers(site.db) == ()
    site.start_worker(name="second")
    assert site.wait_for(job, "done", "failed").attempt == 1, "a stop is nobody's failure"


@pytest.mark.parametrize("site", [pytest.param("team", marks=pytest.mark.services)], indirect=True)
def test_a_database_that_is_away_for_a_moment_costs_nothing(site: Site) -> None:
    site.start_worker("unfused=sleep:4")
    job = site.submit()
    site.wait_until_measuring(job)
    name = site.db.url.database
    with psycopg.connect(POSTGRES, autocommit=True) as server:
        server.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false'.encode())
        server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
        time.sleep(1.5)
        server.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true'.encode())
    trial = site.wait_for(job, "done", "failed")
    assert statuses(trial) == [RunStatus.SUCCEEDED] * 2
    assert "the database does not answer" in site.logs()
