from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from db.errors import IllegalMove, NotFound, Unstorable
from db.records import RunRecord
from db.runs import run as stored_run
from db.runs import store_run
from db.session import Database
from profiles.results import Conditions, Metric, Run, RunStatus
from tests.db.examples import CPU, H200, failed, measure, measured, refused, submit_and_claim
from tests.db.strategies import RUNS


@given(run=RUNS)
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_a_run_comes_back_as_it_was_stored(database: Database, run: Run) -> None:
    _, trial_id, attempt = submit_and_claim(database, "naive")
    run_id = store_run(database, trial_id=trial_id, worker="w1", attempt=attempt, run=run, environment=CPU)
    assert run_id is not None
    assert stored_run(database, run_id) == run


@pytest.mark.parametrize(
    "run", [measured("naive"), refused("naive"), failed("naive")], ids=["measured", "refused", "failed"]
)
def test_stored_json_is_what_was_measured(database: Database, run: Run) -> None:
    _, trial_id, attempt = submit_and_claim(database, "naive")
    run_id = store_run(database, trial_id=trial_id, worker="w1", attempt=attempt, run=run, environment=H200)
    assert run_id is not None
    assert msgspec.json.encode(stored_run(database, run_id)) == msgspec.json.encode(run)


def test_the_same_run_again_is_the_same_row_and_another_one_is_refused(database: Database) -> None:
    _, trial_id, attempt = submit_and_claim(database, "naive")
    owner = {"trial_id": trial_id, "worker": "w1", "attempt": attempt}
    first = store_run(database, run=measured("naive"), environment=CPU, **owner)
    assert store_run(database, run=measured("naive"), environment=CPU, **owner) == first
    with pytest.raises(IllegalMove, match="has a run of 'naive' already"):
        store_run(database, run=measured("naive", gpu_time_ns=1.0), environment=CPU, **owner)


def test_a_variant_that_the_trial_does_not_have_is_refused(database: Database) -> None:
    _, trial_id, attempt = submit_and_claim(database, "naive")
    with pytest.raises(IllegalMove, match=r"no variant 'sdpa_math'; it has naive"):
        store_run(database, trial_id=trial_id, worker="w1", attempt=attempt, run=measured("sdpa_math"), environment=CPU)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("field", ["value", "samples"])
def test_no_number_that_is_not_finite_gets_in(database: Database, field: str, value: float) -> None:
    _, trial_id, attempt = submit_and_claim(database, "naive")
    metric = Metric(name="gpu_time", unit="ns", statistic="median", value=1.0)
    broken = msgspec.structs.replace(metric, **{field: (value,) if field == "samples" else value})
    run = Run(variant="naive", status=RunStatus.SUCCEEDED, metrics=(broken,))
    with pytest.raises(Unstorable, match="'naive'"):
        store_run(database, trial_id=trial_id, worker="w1", attempt=attempt, run=run, environment=CPU)


def test_runs_of_the_same_machine_share_its_environment(database: Database) -> None:
    measure(database, measured("naive"), measured("sdpa_flash"), environment=H200)
    measure(database, measured("naive"), environment=H200)
    with database.read() as session:
        assert session.connection().exec_driver_sql("SELECT count(*) FROM environment").scalar() == 1
        assert session.connection().exec_driver_sql("SELECT count(*) FROM kernel").scalar() == 1


def test_writers_that_meet_new_kernels_at_the_same_time_do_not_disturb_each_other(database: Database) -> None:
    def store(number: int) -> int | None:
        _, trial_id, attempt = submit_and_claim(database, "naive", worker=f"w{number}")
        kernel = measured("naive").kernels[0]
        names = [f"kernel {n}" for n in (range(50) if number % 2 else reversed(range(50)))]
        kernels = tuple(msgspec.structs.replace(kernel, name=name) for name in names)
        run = msgspec.structs.replace(measured("naive"), kernels=kernels)
        owner = {"trial_id": trial_id, "worker": f"w{number}", "attempt": attempt}
        run_id = store_run(database, run=run, environment=CPU, **owner)
        assert run_id is not None
        assert stored_run(database, run_id) == run
        return run_id

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(store, range(8)))) == 8


@pytest.mark.parametrize("started_at", ["yesterday", "2026-11-28T14:22:00", "0001-01-01T00:00:00+14:00"])
def test_a_time_that_is_none_does_not_keep_a_run_out(database: Database, started_at: str) -> None:
    run = msgspec.structs.replace(measured("naive"), conditions=Conditions(started_at=started_at))
    measure(database, run)


def test_an_unknown_run_is_not_found(database: Database) -> None:
    with pytest.raises(NotFound, match="no run 7"):
        stored_run(database, 7)


def test_a_record_has_the_fields_of_a_run_that_have_no_columns_or_rows_of_their_own() -> None:
    of_run, of_record = ({field.name: field for field in msgspec.structs.fields(kind)} for kind in (Run, RunRecord))
    assert of_run.keys() - of_record.keys() == {"variant", "status", "failure", "metrics", "kernels"}
    for name, field in of_record.items():
        assert (field.type, field.default) == (of_run[name].type, of_run[name].default)
