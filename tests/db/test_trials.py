import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from db.errors import IllegalMove, NotFound
from db.jobs import cancel_job, job, submit_job
from db.leases import expire_leases, stale_queued
from db.runs import store_run
from db.session import Database
from db.trials import assignment, beat, claim_trial, finish_trial, give_back, record_progress, trial, waiting
from db.views import JobStatus, TrialStatus
from profiles.protocol import Phase, Progress
from profiles.results import FailureKind, RunStatus
from tests.db.examples import CPU, RAN_OUT, failed, in_brief, ladder, measured, refused, submit_and_claim


def test_claim_gives_the_attempt_once_and_nothing_to_the_second_worker(database: Database) -> None:
    trial_id = submit_job(database, ladder()).trials[0].id
    assert claim_trial(database, trial_id, worker="w1") == 1
    assert claim_trial(database, trial_id, worker="w2") is None
    claimed = trial(database, trial_id)
    assert (claimed.status, claimed.owner, claimed.attempt) == (TrialStatus.RUNNING, "w1", 1)
    assert claimed.started_at is not None
    assert claimed.started_at.utcoffset() is not None


def test_of_eight_claims_at_the_same_time_one_wins(database: Database) -> None:
    trial_id = submit_job(database, ladder()).trials[0].id
    with ThreadPoolExecutor(8) as pool:
        attempts = list(pool.map(lambda n: claim_trial(database, trial_id, worker=f"w{n}"), range(8)))
    assert sorted(attempts, key=str) == [1, *[None] * 7]


def test_a_trial_that_does_not_exist_cannot_be_claimed_or_read(database: Database) -> None:
    assert claim_trial(database, 99, worker="w1") is None
    with pytest.raises(NotFound, match="no trial 99"):
        trial(database, 99)


def test_a_beat_keeps_the_lease_and_an_expired_one_gives_the_trial_back(database: Database) -> None:
    trial_id = submit_job(database, ladder(device="cuda:1")).trials[0].id
    attempt = claim_trial(database, trial_id, worker="w1", lease_s=0.2)
    assert attempt == 1
    assert beat(database, trial_id, worker="w1", attempt=1, lease_s=30).owned
    time.sleep(0.3)
    assert expire_leases(database) == ()
    assert beat(database, trial_id, worker="w1", attempt=1, lease_s=-1).owned
    assert expire_leases(database) == ((trial_id, "cuda:1"),)
    assert trial(database, trial_id).status is TrialStatus.QUEUED
    assert expire_leases(database) == ()


def test_a_paused_worker_that_comes_back_is_fenced_off_everywhere(database: Database) -> None:
    _, trial_id, first = submit_and_claim(database, "naive", "sdpa_flash")
    beat(database, trial_id, worker="w1", attempt=first, lease_s=-1)
    expire_leases(database)
    second = claim_trial(database, trial_id, worker="w2")
    assert second == first + 1

    late = {"worker": "w1", "attempt": first}
    progress = Progress(variant="naive", phase=Phase.TIMED, done=0.5)
    assert not beat(database, trial_id, worker="w1", attempt=first).owned
    assert not record_progress(database, trial_id, progress=progress, worker="w1", attempt=first)
    assert not finish_trial(database, trial_id, status=TrialStatus.DONE, worker="w1", attempt=first)
    assert store_run(database, trial_id=trial_id, run=measured("naive"), environment=CPU, **late) is None
    after = trial(database, trial_id)
    assert (after.owner, after.attempt, after.status) == ("w2", second, TrialStatus.RUNNING)
    assert all(variant.run is None for variant in after.progress)


def test_the_same_worker_s_earlier_attempt_is_fenced_off_too(database: Database) -> None:
    _, trial_id, first = submit_and_claim(database)
    beat(database, trial_id, worker="w1", attempt=first, lease_s=-1)
    expire_leases(database)
    assert claim_trial(database, trial_id, worker="w1") == first + 1
    assert (
        store_run(database, trial_id=trial_id, worker="w1", attempt=first, run=measured("naive"), environment=CPU)
        is None
    )


def test_the_second_attempt_measures_only_what_the_first_did_not_store(database: Database) -> None:
    _, trial_id, first = submit_and_claim(database, "naive", "sdpa_math", "sdpa_flash")
    store_run(database, trial_id=trial_id, worker="w1", attempt=first, run=measured("sdpa_math"), environment=CPU)
    beat(database, trial_id, worker="w1", attempt=first, lease_s=-1)
    expire_leases(database)
    assert claim_trial(database, trial_id, worker="w2") == 2
    assert assignment(database, trial_id).request.variants == ("naive", "sdpa_flash")


def test_after_two_attempts_a_trial_fails_as_worker_lost_and_keeps_what_was_stored(database: Database) -> None:
    submitted, trial_id, first = submit_and_claim(database, "naive", "sdpa_flash")
    store_run(database, trial_id=trial_id, worker="w1", attempt=first, run=measured("naive"), environment=CPU)
    beat(database, trial_id, worker="w1", attempt=first, lease_s=-1)
    assert len(expire_leases(database)) == 1
    claim_trial(database, trial_id, worker="w2", lease_s=-1)
    assert expire_leases(database) == ()
    lost = trial(database, trial_id)
    assert lost.status is TrialStatus.FAILED
    assert lost.failure is not None
    assert lost.failure.kind is FailureKind.WORKER_LOST
    naive, flash = lost.progress
    assert naive.run == in_brief(measured("naive"))
    assert flash.run is not None
    assert (flash.run.status, flash.run.failure) == (RunStatus.FAILED, lost.failure)
    assert job(database, submitted.id).status is JobStatus.DONE


def test_an_attempt_that_was_given_back_in_good_order_does_not_count(database: Database) -> None:
    _, trial_id, _ = submit_and_claim(database, "naive")
    assert not give_back(database, trial_id, worker="w2", attempt=1)
    for _ in range(3):
        assert give_back(database, trial_id, worker="w1", attempt=1)
        assert not beat(database, trial_id, worker="w1", attempt=1).owned
        assert expire_leases(database) == ((trial_id, "cpu"),)
        assert claim_trial(database, trial_id, worker="w1") == 1


def test_one_of_several_reapers_gives_a_trial_away(database: Database, open_again: Callable[[], Database]) -> None:
    trial_id = submit_job(database, ladder()).trials[0].id
    claim_trial(database, trial_id, worker="w1", lease_s=-1)
    reapers = [open_again() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        given = [found for reaped in pool.map(expire_leases, reapers) for found in reaped]
    assert given == [(trial_id, "cpu")]


def test_a_trial_that_stays_queued_is_found_once_per_period(database: Database) -> None:
    trial_id = submit_job(database, ladder()).trials[0].id
    assert stale_queued(database, older_than_s=60) == ()
    time.sleep(0.1)
    assert stale_queued(database, older_than_s=0.05) == ((trial_id, "cpu"),)
    assert stale_queued(database, older_than_s=60) == ()
    claim_trial(database, trial_id, worker="w1")
    time.sleep(0.1)
    assert stale_queued(database, older_than_s=0.05) == ()


def test_waiting_counts_queued_trials_by_device_class(database: Database) -> None:
    submit_job(database, ladder(trials=3))
    taken = submit_job(database, ladder(device="cuda"))
    submit_job(database, ladder(device="cuda"))
    claim_trial(database, taken.trials[0].id, worker="w1")
    assert waiting(database) == {"cpu": 3, "cuda": 1}


def test_progress_shows_phases_passed_and_the_one_that_runs(database: Database) -> None:
    _, trial_id, attempt = submit_and_claim(database, "naive", "sdpa_flash")
    for phase, done, so_far in [
        (Phase.BUILD, 0.0, None),
        (Phase.BUILD, 1.0, None),
        (Phase.TIMED, 0.4, "12 of 30 samples"),
    ]:
        progress = Progress(variant="naive", phase=phase, done=done, so_far=so_far)
        assert record_progress(database, trial_id, worker="w1", attempt=attempt, progress=progress)
    naive, flash = trial(database, trial_id).progress
    assert (naive.passed, naive.current, naive.so_far) == ((Phase.BUILD,), Phase.TIMED, "12 of 30 samples")
    assert (flash.passed, flash.current, flash.run) == ((), None, None)


def test_a_claim_forgets_the_progress_of_the_attempt_before(database: Database) -> None:
    _, trial_id, attempt = submit_and_claim(database, "naive")
    progress = Progress(variant="naive", phase=Phase.TIMED, done=0.4)
    record_progress(database, trial_id, worker="w1", attempt=attempt, progress=progress)
    beat(database, trial_id, worker="w1", attempt=attempt, lease_s=-1)
    expire_leases(database)
    claim_trial(database, trial_id, worker="w2")
    assert trial(database, trial_id).progress[0].current is None


def test_a_failed_trial_leaves_no_variant_open(database: Database) -> None:
    _, trial_id, attempt = submit_and_claim(database, "naive", "sdpa_flash", "sdpa_math")
    store_run(database, trial_id=trial_id, worker="w1", attempt=attempt, run=refused("sdpa_flash"), environment=CPU)
    owner = {"worker": "w1", "attempt": attempt}
    assert finish_trial(database, trial_id, status=TrialStatus.FAILED, failure=RAN_OUT, **owner)
    ended = trial(database, trial_id)
    assert ended.failure == RAN_OUT
    assert ended.ended_at is not None
    assert [variant.run for variant in ended.progress] == [failed("naive"), refused("sdpa_flash"), failed("sdpa_math")]
    assert not finish_trial(database, trial_id, status=TrialStatus.DONE, **owner)


def test_a_done_trial_without_a_result_says_so_on_the_run(database: Database) -> None:
    _, trial_id, attempt = submit_and_claim(database, "naive")
    finish_trial(database, trial_id, worker="w1", attempt=attempt, status=TrialStatus.DONE)
    run = trial(database, trial_id).progress[0].run
    assert run is not None
    assert run.failure is not None
    assert (run.status, run.failure.kind) == (RunStatus.FAILED, FailureKind.INTERNAL)


@pytest.mark.parametrize(
    ("status", "failure", "message"),
    [
        (TrialStatus.QUEUED, None, "cannot end as 'queued'"),
        (TrialStatus.RUNNING, None, "cannot end as 'running'"),
        (TrialStatus.FAILED, None, "a failed trial has a failure"),
        (TrialStatus.DONE, RAN_OUT, "no other has one"),
        (TrialStatus.CANCELLED, None, "nobody asked to cancel"),
    ],
)
def test_illegal_ends_are_refused(database: Database, status: TrialStatus, failure: object, message: str) -> None:
    _, trial_id, attempt = submit_and_claim(database)
    with pytest.raises(IllegalMove, match=message):
        finish_trial(database, trial_id, worker="w1", attempt=attempt, status=status, failure=failure)
    assert trial(database, trial_id).status is TrialStatus.RUNNING


def test_a_running_trial_hears_of_its_cancelling_by_its_beat(database: Database) -> None:
    submitted, trial_id, attempt = submit_and_claim(database, "naive", "sdpa_flash")
    store_run(database, trial_id=trial_id, worker="w1", attempt=attempt, run=measured("naive"), environment=CPU)
    assert not beat(database, trial_id, worker="w1", attempt=attempt).cancel_requested
    assert cancel_job(database, submitted.id).trials[0].cancel_requested
    heard = beat(database, trial_id, worker="w1", attempt=attempt)
    assert (heard.owned, heard.cancel_requested) == (True, True)
    assert finish_trial(database, trial_id, worker="w1", attempt=attempt, status=TrialStatus.CANCELLED)
    naive, flash = trial(database, trial_id).progress
    assert naive.run == in_brief(measured("naive"))
    assert flash.run is not None
    assert (flash.run.status, flash.run.failure) == (RunStatus.CANCELLED, None)
    assert job(database, submitted.id).status is JobStatus.CANCELLED


def test_a_lost_trial_that_was_to_be_cancelled_is_not_tried_again(database: Database) -> None:
    submitted, trial_id, attempt = submit_and_claim(database)
    cancel_job(database, submitted.id)
    beat(database, trial_id, worker="w1", attempt=attempt, lease_s=-1)
    assert expire_leases(database) == ()
    assert trial(database, trial_id).status is TrialStatus.CANCELLED
