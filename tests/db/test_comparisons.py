import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from db.comparisons import comparison, create_comparison, rename_comparison
from db.errors import IllegalMove, NotFound
from db.history import comparisons, runs
from db.jobs import retry_job, submit_job
from db.models import TrialRow
from db.ownership import owned_row
from db.runs import store_run
from db.session import Database
from db.trials import claim_trial, end_trial, finish_trial
from db.views import JobStatus, TrialStatus
from profiles.comparison.answer import whole_answer
from profiles.results import Failure, FailureKind
from tests.db.examples import CPU, H200, RAN_OUT, failed, ladder, measure, measured, refused, submit_and_claim


def test_runs_appear_in_the_comparison_as_they_are_stored(database: Database) -> None:
    job, trial_id, attempt = submit_and_claim(database, "naive", "sdpa_flash")
    store_run(database, trial_id=trial_id, worker="w1", attempt=attempt, run=measured("sdpa_flash"), environment=H200)
    shown = comparison(database, job.comparison_id)
    naive, flash = shown.entries
    assert (shown.status, naive.run, naive.pending, naive.trial_status) == (
        JobStatus.RUNNING,
        None,
        True,
        TrialStatus.RUNNING,
    )
    assert (flash.run, flash.environment, flash.plan) == (measured("sdpa_flash"), H200, job.request.plan)
    assert flash.measured_at == datetime(2026, 11, 28, 14, 22, 0, 250000, tzinfo=UTC)
    assert not flash.has_timeline


def test_selected_runs_become_a_comparison_in_their_order(database: Database) -> None:
    measure(database, measured("naive"), measured("sdpa_flash"))
    measure(database, refused("sdpa_math"), environment=H200)
    by_variant = {run.variant: run.id for run in runs(database).items}
    chosen = [by_variant["sdpa_math"], by_variant["naive"]]
    made = create_comparison(database, chosen, name=" Mine ", created_by="ada")
    shown = comparison(database, made)
    assert [(e.key, e.variant, e.run_id) for e in shown.entries] == [
        ("A", "sdpa_math", chosen[0]),
        ("B", "naive", chosen[1]),
    ]
    assert (shown.name, shown.created_by, shown.job_id, shown.status) == ("Mine", "ada", None, None)


def test_a_retry_changes_the_job_s_own_comparison_and_no_other(database: Database) -> None:
    job = measure(database, failed("naive"))
    made = create_comparison(database, [runs(database).items[0].id], name="Kept")
    retry_job(database, job.id)
    assert comparison(database, made).entries[0].run == failed("naive")
    assert comparison(database, job.comparison_id).entries[0].pending


def test_keys_go_on_after_z(database: Database) -> None:
    job = submit_job(database, ladder("naive", "naive_inplace", "sdpa_auto", trials=10))
    keys = [entry.key for entry in comparison(database, job.comparison_id).entries]
    assert keys[:2] + keys[24:28] == ["A", "B", "Y", "Z", "AA", "AB"]


@pytest.mark.parametrize(
    ("run_ids", "name", "message"),
    [([], "x", "0 runs are selected"), ([1, 1], "x", "more than once"), ([1], "  ", "name cannot be empty")],
)
def test_impossible_selections_are_refused(database: Database, run_ids: list[int], name: str, message: str) -> None:
    measure(database, measured("naive"))
    with pytest.raises(IllegalMove, match=message):
        create_comparison(database, run_ids, name=name)


def test_a_selection_with_an_unknown_run_makes_nothing(database: Database) -> None:
    measure(database, measured("naive"))
    with pytest.raises(NotFound, match="no run 99"):
        create_comparison(database, [1, 99], name="x")
    assert comparisons(database).total == 1


def test_a_new_name_is_kept_and_an_empty_one_refused(database: Database) -> None:
    made = measure(database, measured("naive")).comparison_id
    rename_comparison(database, made, " Prefill at 512 ")
    assert comparison(database, made).name == "Prefill at 512"
    with pytest.raises(IllegalMove):
        rename_comparison(database, made, " ")


def test_a_comparison_s_answer_comes_with_the_end_of_its_trial_and_goes_with_a_retry(database: Database) -> None:
    waiting = submit_job(database, ladder("naive"))
    assert comparisons(database).items[0].answer is None
    job = measure(database, measured("naive"), failed("sdpa_flash"))
    selected = create_comparison(database, [runs(database).items[0].id], name="Selected")
    answers = {item.id: item.answer for item in comparisons(database).items}
    assert answers[waiting.comparison_id] is None
    assert "naive" in (answers[job.comparison_id] or "")
    assert answers[selected]
    retry_job(database, job.id)
    assert {item.id: item.answer for item in comparisons(database).items}[job.comparison_id] is None


def test_unknown_comparisons_are_not_found(database: Database) -> None:
    with pytest.raises(NotFound, match="no comparison 5"):
        comparison(database, 5)
    with pytest.raises(NotFound):
        rename_comparison(database, 5, "x")


def test_a_variant_of_an_ended_trial_is_never_pending(database: Database) -> None:
    job = measure(database, measured("naive"), environment=CPU)
    assert not any(entry.pending for entry in comparison(database, job.comparison_id).entries)


def test_of_two_trials_that_end_together_the_later_answer_knows_both(database: Database) -> None:
    submitted = submit_job(database, ladder(trials=2))
    first, second = (trial.id for trial in submitted.trials)
    for trial_id in (first, second):
        claim_trial(database, trial_id, worker="w1")
    with ThreadPoolExecutor(1) as pool:
        with database.begin() as session:
            trial = owned_row(session, TrialRow, first, worker="w1", attempt=1)
            assert trial is not None
            end_trial(session, trial, TrialStatus.FAILED, RAN_OUT)
            session.flush()
            other = Failure(kind=FailureKind.CRASHED, message="another reason")
            ended = pool.submit(
                finish_trial, database, second, worker="w1", attempt=1, status=TrialStatus.FAILED, failure=other
            )
            time.sleep(0.3)  # the other one has come as far as it can
        assert ended.result(timeout=10.0)
    (listed,) = comparisons(database, limit=5).items
    assert listed.answer == whole_answer(comparison(database, submitted.comparison_id).entries)
