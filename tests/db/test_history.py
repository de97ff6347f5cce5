from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from db.comparisons import create_comparison
from db.history import comparisons, filter_choices, latest_comparisons, runs
from db.jobs import cancel_job, submit_job
from db.run_rows import load_runs
from db.session import Database
from db.views import HistoryFilter, JobStatus
from profiles.job import JobRequest, TrialRequest
from profiles.recorded import Attribution, GapCause, Idle, Recorded
from profiles.results import Counts, Finding
from tests.db.examples import CPU, H200, RAN_OUT, failed, ladder, measure, measured, norm, refused


@pytest.fixture
def filled(database: Database) -> Database:
    """Four comparisons: Ladder on a GPU, Broken on a CPU, Norms waiting, Mine selected from the first."""
    measure(database, measured("naive", kernel="gemm_naive"), measured("sdpa_flash"), name="Ladder", environment=H200)
    measure(database, failed("sdpa_math"), refused("sdpa_cudnn"), name="Broken 100%", environment=CPU)
    submit_job(
        database,
        JobRequest(name="Norms", device="cuda", trials=(TrialRequest(workload=norm(), variants=("unfused@compile",)),)),
    )
    first = next(run.id for run in runs(database).items if run.variant == "sdpa_flash")
    create_comparison(database, [first], name="Mine")
    return database


def names(database: Database, **wanted: object) -> list[str]:
    found = comparisons(database, HistoryFilter(**wanted))
    assert found.total == len(found.items)
    return [shown.name for shown in found.items]


def variants(database: Database, **wanted: object) -> set[str]:
    found = runs(database, HistoryFilter(**wanted))
    assert found.total == len(found.items)
    return {shown.variant for shown in found.items}


def test_comparisons_are_listed_latest_first_with_what_became_of_their_runs(filled: Database) -> None:
    mine, norms, broken, ladder_ = comparisons(filled).items
    assert [shown.name for shown in (mine, norms, broken, ladder_)] == ["Mine", "Norms", "Broken 100%", "Ladder"]
    assert (ladder_.operation, ladder_.workload, ladder_.device_name, ladder_.device) == (
        "attention",
        "B1 H8 S512 D64, causal, fp32",
        "NVIDIA H200",
        "cuda",
    )
    assert (ladder_.runs, ladder_.succeeded, ladder_.failed, ladder_.status) == (2, 2, 0, JobStatus.DONE)
    assert (broken.runs, broken.succeeded, broken.failed, broken.status) == (2, 0, 1, JobStatus.FAILED)
    assert (norms.runs, norms.succeeded, norms.status, norms.device_name) == (1, 0, JobStatus.QUEUED, None)
    assert (mine.runs, mine.status) == (1, None)


def test_several_workloads_are_named_by_the_first(database: Database) -> None:
    submit_job(database, ladder("naive", trials=3))
    assert comparisons(database).items[0].workload == "B1 H8 S512 D64, causal, fp32 and 2 more"


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"search": "LADD"}, ["Ladder"]),
        ({"search": "sdpa_math"}, ["Broken 100%"]),
        ({"search": "fmha_forward"}, ["Mine", "Ladder"]),
        ({"search": "gemm_n"}, ["Ladder"]),
        ({"search": "FMHA_Forward"}, ["Mine", "Ladder"]),
        ({"search": "100%"}, ["Broken 100%"]),
        ({"search": "%"}, ["Broken 100%"]),
        ({"search": "unfused@comp"}, ["Norms"]),
        ({"search": "nowhere"}, []),
        ({"search": "  "}, ["Mine", "Norms", "Broken 100%", "Ladder"]),
        ({"operation": "residual_rms_norm"}, ["Norms"]),
        ({"operation": "swiglu"}, []),
        ({"device_name": "NVIDIA H200"}, ["Mine", "Ladder"]),
        ({"status": "failed"}, ["Broken 100%"]),
        ({"status": "done"}, ["Mine", "Ladder"]),
        ({"status": "queued"}, ["Norms"]),
        ({"status": "done", "search": "naive"}, ["Ladder"]),
        ({"since": datetime.now(UTC) + timedelta(hours=1)}, []),
        ({"since": datetime.now(UTC) - timedelta(hours=1)}, ["Mine", "Norms", "Broken 100%", "Ladder"]),
    ],
)
def test_filters_of_comparisons(filled: Database, wanted: dict[str, Any], expected: list[str]) -> None:
    assert names(filled, **wanted) == expected


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, {"naive", "sdpa_flash", "sdpa_math", "sdpa_cudnn"}),
        ({"search": "fmha"}, {"sdpa_flash"}),
        ({"search": "broken"}, {"sdpa_math", "sdpa_cudnn"}),
        ({"search": "NAIVE"}, {"naive"}),
        ({"status": "refused"}, {"sdpa_cudnn"}),
        ({"device_name": "a CPU"}, {"sdpa_math", "sdpa_cudnn"}),
        ({"operation": "attention", "status": "succeeded"}, {"naive", "sdpa_flash"}),
        ({"operation": "swiglu"}, set()),
        ({"since": datetime(2026, 11, 28, 14, 22, tzinfo=UTC)}, {"naive", "sdpa_flash", "sdpa_math", "sdpa_cudnn"}),
        ({"since": datetime.now(UTC) + timedelta(hours=1)}, set()),
    ],
)
def test_filters_of_runs(filled: Database, wanted: dict[str, Any], expected: set[str]) -> None:
    assert variants(filled, **wanted) == expected


def test_a_line_of_a_run_says_what_was_measured(filled: Database) -> None:
    found = {shown.variant: shown for shown in runs(filled).items}
    naive, math = found["naive"], found["sdpa_math"]
    assert (naive.gpu_time_ns, naive.call_time_ns, naive.kernels) == (178_500.0, None, 1)
    assert (naive.device_name, naive.torch, naive.status, naive.failure) == ("NVIDIA H200", "2.11.0", "succeeded", None)
    assert naive.comparison_id == comparisons(filled, HistoryFilter(search="ladder")).items[0].id
    assert (math.gpu_time_ns, math.kernels, math.failure) == (None, None, RAN_OUT)


def test_pages_know_the_whole_number_also_beyond_the_last(database: Database) -> None:
    for number in range(5):
        measure(database, measured("naive"), name=f"Job {number}")
    assert [shown.name for shown in comparisons(database, offset=3, limit=2).items] == ["Job 1", "Job 0"]
    assert comparisons(database, offset=3, limit=1).total == 5
    beyond = comparisons(database, offset=10, limit=2)
    assert (beyond.items, beyond.total) == ((), 5)
    assert runs(database, offset=4, limit=3).total == 5


def test_the_latest_are_the_first_of_the_list(filled: Database) -> None:
    wanted = HistoryFilter(operation="attention")
    assert latest_comparisons(filled, wanted, limit=2) == comparisons(filled, wanted, limit=2).items
    assert latest_comparisons(filled, HistoryFilter(operation="swiglu"), limit=2) == ()


def test_choices_are_what_is_there(filled: Database) -> None:
    choices = filter_choices(filled)
    assert choices.operations == ("attention", "residual_rms_norm")
    assert choices.device_names == ("NVIDIA H200", "a CPU")


def test_an_empty_history_is_empty(database: Database) -> None:
    assert (comparisons(database).items, comparisons(database).total, runs(database).total) == ((), 0, 0)
    cancel_job(database, submit_job(database, ladder()).id)
    assert comparisons(database).items[0].status is JobStatus.CANCELLED


def test_a_count_that_its_trace_puts_in_doubt_says_why_in_the_list(database: Database) -> None:
    lost = Finding(code="launches_without_slices", message="2 launches without a slice", count=2, doubtful=("counts",))
    run = msgspec.structs.replace(measured("naive"), counts=Counts(kernels=5), trace_health=(lost,))
    measure(database, run, measured("sdpa_flash"), name="Ladder", environment=H200)
    doubts = {shown.variant: shown.kernels_doubt for shown in runs(database).items}
    assert doubts == {"naive": "2 launches without a slice", "sdpa_flash": None}


def test_what_a_recording_says_beside_its_counts_is_stored_with_the_run(database: Database) -> None:
    idle = (Idle(cause=GapCause.HOST_LATE, count=3, total_ns=38_000, longest_ns=20_000),)
    told = Recorded(span_ns=178_000, idle=idle, stream_overlap_ns=5, kernels=Attribution(exact=5, by_graph=2))
    measure(database, msgspec.structs.replace(measured("naive"), recorded=told), name="Ladder", environment=H200)
    (shown,) = runs(database).items
    with database.begin() as session:
        assert load_runs(session, [shown.id])[shown.id].recorded == told
