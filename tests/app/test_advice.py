"""What a job's failures mean, told on the Jobs page."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from app import advice
from db import jobs, runs, trials
from db.session import Database
from db.views import JobView, TrialStatus
from profiles import presets
from profiles.results import Failure, FailureKind, Run, RunStatus

WORKER = "here/cpu"


def _ended(db: Database, failures: Mapping[str, Failure], *, status: RunStatus = RunStatus.FAILED) -> JobView:
    """The attention ladder, measured; the variants that `failures` names ended so, the others succeeded."""
    job = jobs.submit_job(db, presets.request("attention-ladder", device="cpu"))
    trial = job.trials[0]
    attempt = trials.claim_trial(db, trial.id, worker=WORKER)
    assert attempt is not None
    for variant in trial.variants:
        failure = failures.get(variant)
        ended = RunStatus.SUCCEEDED if failure is None else status
        run = Run(variant=variant, status=ended, failure=failure)
        runs.store_run(db, trial_id=trial.id, worker=WORKER, attempt=attempt, run=run, environment=None)
    trials.finish_trial(db, trial.id, worker=WORKER, attempt=attempt, status=TrialStatus.DONE)
    return jobs.job(db, job.id)


def _failure(kind: FailureKind, message: str = "as told") -> Failure:
    return Failure(kind=kind, message=message)


def test_a_killed_variant_is_told_with_its_reason_and_a_next_step(sqlite_database: Database) -> None:
    job = _ended(sqlite_database, {"naive": _failure(FailureKind.CRASHED, "killed by signal 9")})
    assert advice.went_wrong(job)
    assert advice.summary(job) == "6 of 7 were measured. `naive` crashed."
    assert advice.raw_lines(job) == ("crashed  naive  killed by signal 9",)
    assert advice.next_step(job)


def test_variants_that_failed_alike_are_named_together(sqlite_database: Database) -> None:
    lost = _failure(FailureKind.OUT_OF_MEMORY)
    job = _ended(sqlite_database, {"naive": lost, "sdpa_math": lost, "sdpa_auto": _failure(FailureKind.TIMEOUT)})
    assert advice.summary(job) == "4 of 7 were measured. `naive` ran out of memory, like `sdpa_math`."
    assert advice.next_step(job).startswith("Try without `naive` and `sdpa_math`, ")


def test_when_nearly_all_ran_out_of_memory_the_advice_names_none(sqlite_database: Database) -> None:
    lost = _failure(FailureKind.OUT_OF_MEMORY)
    variants = presets.request("attention-ladder", device="cpu").trials[0].variants
    job = _ended(sqlite_database, dict.fromkeys(variants, lost))
    assert advice.summary(job) == "No variant could be measured. `naive` ran out of memory, like 6 others."
    assert advice.next_step(job) == "Try with a smaller batch or a shorter sequence."


def test_a_refusal_is_no_failure(sqlite_database: Database) -> None:
    refused = {"sdpa_cudnn": _failure(FailureKind.UNSUPPORTED, "needs a cuda device")}
    job = _ended(sqlite_database, refused, status=RunStatus.REFUSED)
    assert not advice.went_wrong(job)
    assert advice.outcome(job) == "6 succeeded, 1 refused"


def test_a_cancelled_job_says_that_nothing_was_measured(sqlite_database: Database) -> None:
    job = jobs.submit_job(sqlite_database, presets.request("attention-ladder", device="cpu"))
    cancelled = jobs.cancel_job(sqlite_database, job.id)
    assert not advice.went_wrong(cancelled)
    assert advice.was_cancelled(cancelled)
    assert not advice.was_cancelled(job)
    assert "cancelled" in advice.outcome(cancelled)


def test_a_lost_worker_is_told_once_for_the_whole_trial(sqlite_database: Database) -> None:
    job = jobs.submit_job(sqlite_database, presets.request("attention-ladder", device="cpu"))
    trial = job.trials[0]
    attempt = trials.claim_trial(sqlite_database, trial.id, worker=WORKER)
    assert attempt is not None
    gone = _failure(FailureKind.WORKER_LOST, "worker here/cpu stopped answering; tried twice")
    trials.finish_trial(
        sqlite_database, trial.id, worker=WORKER, attempt=attempt, status=TrialStatus.FAILED, failure=gone
    )
    ended = jobs.job(sqlite_database, job.id)
    assert advice.went_wrong(ended)
    assert advice.raw_lines(ended) == (f"worker_lost  {gone.message}",)
    assert "Workers" in advice.next_step(ended)


@pytest.mark.parametrize("kind", list(FailureKind))
def test_every_kind_of_failure_has_words_and_a_next_step(sqlite_database: Database, kind: FailureKind) -> None:
    job = _ended(sqlite_database, {"naive": _failure(kind)})
    assert "`naive`" in advice.summary(job)
    assert advice.next_step(job).endswith(".")
