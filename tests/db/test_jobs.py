import time

import pytest

from db.comparisons import comparison
from db.errors import IllegalMove, NotFound
from db.jobs import cancel_job, ended_jobs, expected_seconds, job, open_jobs, retry_job, submit_job
from db.runs import store_run
from db.session import Database
from db.trials import claim_trial, finish_trial, trial
from db.views import JobStatus, TrialStatus
from profiles.job import JobError, JobRequest, TrialRequest
from profiles.results import Run, RunStatus
from tests.db.examples import (
    CPU,
    RAN_OUT,
    attention,
    failed,
    in_brief,
    ladder,
    measure,
    measured,
    norm,
    refused,
    submit_and_claim,
)


def test_a_job_comes_back_as_it_was_submitted_with_its_trials_and_comparison(database: Database) -> None:
    request = ladder("naive", "sdpa_flash", name="Two lengths", trials=2)
    submitted = submit_job(database, request, submitted_by="ada")
    assert job(database, submitted.id) == submitted
    assert (submitted.request, submitted.submitted_by, submitted.status) == (request, "ada", JobStatus.QUEUED)
    assert [(t.workload, t.variants, t.attempt) for t in submitted.trials] == [
        (attention(512), ("naive", "sdpa_flash"), 0),
        (attention(1024), ("naive", "sdpa_flash"), 0),
    ]
    shown = comparison(database, submitted.comparison_id)
    assert (shown.name, shown.job_id, shown.created_by) == ("Two lengths", submitted.id, "ada")
    assert [(entry.key, entry.variant, entry.run, entry.pending) for entry in shown.entries] == [
        ("A", "naive", None, True),
        ("B", "sdpa_flash", None, True),
        ("C", "naive", None, True),
        ("D", "sdpa_flash", None, True),
    ]


def test_a_job_that_could_be_measured_nowhere_is_not_stored(database: Database) -> None:
    request = JobRequest(name="x", device="tpu", trials=(TrialRequest(workload=norm(), variants=("unfused",)),))
    with pytest.raises(JobError, match="unknown device class 'tpu'"):
        submit_job(database, request)
    assert open_jobs(database) == ()


def test_unknown_jobs_are_not_found(database: Database) -> None:
    for look in (job, cancel_job, retry_job):
        with pytest.raises(NotFound, match="no job 12"):
            look(database, 12)


def test_a_job_is_running_while_any_trial_is_open_and_done_at_the_end(database: Database) -> None:
    submitted = submit_job(database, ladder("naive", trials=2))
    for number, expected in [(0, JobStatus.RUNNING), (1, JobStatus.DONE)]:
        trial_id = submitted.trials[number].id
        owner = {"worker": "w1", "attempt": claim_trial(database, trial_id, worker="w1")}
        assert job(database, submitted.id).status is JobStatus.RUNNING
        store_run(database, trial_id=trial_id, run=measured("naive"), environment=CPU, **owner)
        finish_trial(database, trial_id, status=TrialStatus.DONE, **owner)
        assert job(database, submitted.id).status is expected


@pytest.mark.parametrize(
    ("runs", "status"),
    [
        ((measured("naive"), failed("sdpa_flash")), JobStatus.DONE),
        ((failed("naive"), failed("sdpa_flash")), JobStatus.FAILED),
        ((failed("naive"), refused("sdpa_flash")), JobStatus.FAILED),
    ],
)
def test_a_job_without_any_success_has_failed(database: Database, runs: tuple[Run, ...], status: JobStatus) -> None:
    assert job(database, measure(database, *runs).id).status is status


def test_the_failures_of_a_job_leave_out_refusals(database: Database) -> None:
    done = measure(database, measured("naive"), refused("sdpa_math"), failed("sdpa_flash"))
    assert job(database, done.id).failures == (("sdpa_flash", RAN_OUT),)


def test_open_and_ended_jobs_are_listed_apart(database: Database) -> None:
    done = [measure(database, measured("naive")).id for _ in range(3)]
    waiting = submit_job(database, ladder())
    running, _, _ = submit_and_claim(database)
    assert [shown.id for shown in open_jobs(database)] == [waiting.id, running.id]
    first, second = ended_jobs(database, limit=2), ended_jobs(database, offset=2, limit=2)
    assert [shown.id for shown in (*first.items, *second.items)] == done[::-1]
    assert (first.total, second.total) == (3, 3)


def test_lists_of_jobs_load_no_samples_and_no_kernels(database: Database) -> None:
    """A page of jobs would else be megabytes: the comparison has them."""
    shown = measure(database, measured("naive"))
    assert ended_jobs(database).items[0].trials[0].progress[0].run == in_brief(measured("naive"))
    assert comparison(database, shown.comparison_id).entries[0].run == measured("naive")


def test_cancelling_a_queued_job_ends_it_at_once_and_leaves_nothing_open(database: Database) -> None:
    submitted = submit_job(database, ladder("naive", "sdpa_flash", trials=2))
    cancelled = cancel_job(database, submitted.id)
    assert cancelled.status is JobStatus.CANCELLED
    assert all(t.status is TrialStatus.CANCELLED and t.ended_at is not None for t in cancelled.trials)
    runs = [variant.run for t in cancelled.trials for variant in t.progress]
    assert all(run is not None and run.status is RunStatus.CANCELLED for run in runs)
    assert claim_trial(database, submitted.trials[0].id, worker="w1") is None
    with pytest.raises(IllegalMove, match="has ended"):
        cancel_job(database, submitted.id)


def test_a_retry_is_a_new_trial_that_takes_the_old_one_s_place(database: Database) -> None:
    done = measure(database, measured("naive"), failed("sdpa_flash"))
    old = done.trials[0]
    again = retry_job(database, done.id)
    (new,) = again.trials
    assert (new.retry_of, new.variants, new.status) == (old.id, ("naive", "sdpa_flash"), TrialStatus.QUEUED)
    assert (again.status, again.failures) == (JobStatus.QUEUED, ())
    assert [(e.key, e.trial_id, e.run) for e in comparison(database, done.comparison_id).entries] == [
        ("A", new.id, None),
        ("B", new.id, None),
    ]
    assert trial(database, old.id).progress[1].run == failed("sdpa_flash")

    owner = {"worker": "w2", "attempt": claim_trial(database, new.id, worker="w2")}
    better = measured("sdpa_flash", gpu_time_ns=90.0)
    store_run(database, trial_id=new.id, run=better, environment=CPU, **owner)
    assert comparison(database, done.comparison_id).entries[1].run == better


def test_only_the_trials_that_failed_are_tried_again(database: Database) -> None:
    submitted = submit_job(database, ladder("naive", trials=3))
    for shown, run in zip(submitted.trials, [measured("naive"), failed("naive"), refused("naive")], strict=True):
        owner = {"worker": "w1", "attempt": claim_trial(database, shown.id, worker="w1")}
        store_run(database, trial_id=shown.id, run=run, environment=CPU, **owner)
        finish_trial(database, shown.id, status=TrialStatus.DONE, **owner)
    again = retry_job(database, submitted.id)
    assert [t.retry_of for t in again.trials] == [None, submitted.trials[1].id, None]
    assert [t.workload for t in again.trials] == [t.workload for t in submitted.trials]


def test_what_succeeded_or_is_still_open_is_not_tried_again(database: Database) -> None:
    done = measure(database, measured("naive"), refused("sdpa_cudnn"))
    waiting = submit_job(database, ladder())
    for job_id in (done.id, waiting.id):
        with pytest.raises(IllegalMove, match="failed or was cancelled"):
            retry_job(database, job_id)


def test_a_trial_is_tried_again_once_and_then_its_successor_is(database: Database) -> None:
    submitted = submit_job(database, ladder("naive"))
    cancel_job(database, submitted.id)
    first = retry_job(database, submitted.id).trials[0]
    with pytest.raises(IllegalMove):
        retry_job(database, submitted.id)
    cancel_job(database, submitted.id)
    second = retry_job(database, submitted.id).trials[0]
    assert (first.retry_of, second.retry_of) == (submitted.trials[0].id, first.id)


def test_the_expected_time_is_the_median_of_such_trials_and_unknown_for_new_ones(database: Database) -> None:
    request = ladder("naive")
    assert expected_seconds(database, request) is None
    for _ in range(3):
        trial_id = submit_job(database, request).trials[0].id
        owner = {"worker": "w1", "attempt": claim_trial(database, trial_id, worker="w1")}
        time.sleep(0.1)
        finish_trial(database, trial_id, status=TrialStatus.DONE, **owner)
    known = expected_seconds(database, request)
    assert known is not None
    assert 0.09 < known < 5
    twice = expected_seconds(database, JobRequest(name="x", device="cpu", trials=request.trials * 2))
    assert twice == pytest.approx(2 * known)
    assert expected_seconds(database, ladder("naive", trials=2)) is None
    assert expected_seconds(database, ladder("naive", "sdpa_flash")) is None
    assert expected_seconds(database, ladder("naive", device="cuda")) is None
