"""How far a job is: over all of its trials, by the phases that variants passed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.pages.progress_table import doing, job_share
from db.jobs import submit_job
from db.session import Database
from db.views import JobView, TrialStatus, TrialView, VariantProgress
from profiles import presets
from profiles.protocol import Phase

HALF = (Phase.BUILD, Phase.ELIGIBLE, Phase.FIRST_CALL)


def test_trials_that_ended_and_that_wait_count_as_much_as_the_one_that_runs(sqlite_database: Database) -> None:
    trial = _trial(sqlite_database)
    ended, waits = replace(trial, status=TrialStatus.FAILED), replace(trial, status=TrialStatus.QUEUED)
    half = replace(trial, progress=tuple(VariantProgress(variant=name, passed=HALF) for name in trial.variants))
    assert job_share(_job(sqlite_database, ended, half, waits, waits)) == pytest.approx(1.5 / 4)


def test_a_job_that_only_began_has_nothing_done(sqlite_database: Database) -> None:
    assert job_share(_job(sqlite_database, _trial(sqlite_database))) == 0.0


def test_with_a_walk_first_visits_are_a_phase_too(sqlite_database: Database) -> None:
    job = submit_job(sqlite_database, presets.request("shape-churn", device="cpu"))
    done = tuple(VariantProgress(variant=name, passed=tuple(Phase)[:-1]) for name in job.trials[0].variants)
    running = replace(job.trials[0], status=TrialStatus.RUNNING, progress=done)
    assert job_share(replace(job, trials=(running,))) == pytest.approx(6 / 7)


def test_a_walk_says_where_it_is(sqlite_database: Database) -> None:
    at = VariantProgress(
        variant="sdpa_auto", current=Phase.VISITED, so_far="KV length 551 of 512…575", passed=(Phase.FIRST_CALL,)
    )
    assert doing(replace(_trial(sqlite_database), progress=(at,))) == (
        "Timing <code>sdpa_auto</code>: KV length 551 of 512…575"
    )


def _trial(database: Database) -> TrialView:
    return replace(_job(database).trials[0], status=TrialStatus.RUNNING)


def _job(database: Database, *trials: TrialView) -> JobView:
    job = submit_job(database, presets.request("attention-ladder", device="cpu"))
    return replace(job, trials=trials or job.trials)
