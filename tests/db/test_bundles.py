import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import text

from db.bundles import export_comparison, import_bundle
from db.comparisons import comparison, create_comparison
from db.errors import NotFound
from db.history import comparisons, runs
from db.jobs import cancel_job, submit_job
from db.session import Database
from db.store import TraceStore, file_sha256
from db.trials import trial
from db.views import HistoryFilter, ViewState
from profiles.bundle import BundledView, BundleError, read_bundle, write_bundle
from profiles.environment import Environment
from profiles.plan import Plan
from profiles.results import Metric, Results, Run, Trial
from profiles.workload import Workload
from tests.db.examples import CPU, H200, attention, failed, ladder, measure, measured, norm, refused
from tests.db.traces_of_runs import timeline_of, trace_of

TRACE = Path(__file__).parents[1] / "data" / "traces" / "cuda_naive.json.gz"
SHA256 = file_sha256(TRACE)
WITH_TRACE = msgspec.structs.replace(measured("naive"), trace=SHA256)


def results(*trials: tuple[Workload, tuple[Run, ...]], environment: Environment = H200) -> Results:
    measured_trials = tuple(Trial(workload=workload, runs=runs) for workload, runs in trials)
    return Results(preset="attention-ladder", plan=Plan(), environment=environment, trials=measured_trials, name="H200")


LADDER = results((attention(), (WITH_TRACE, measured("sdpa_flash"), refused("sdpa_cudnn"), failed("sdpa_math"))))


@pytest.fixture
def store(tmp_path: Path) -> TraceStore:
    return TraceStore((tmp_path / "traces").as_uri())


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    path = tmp_path / "ladder.fusescope"
    write_bundle(path, LADDER, {SHA256: TRACE})
    return path


def rows(database: Database) -> dict[str, int]:
    tables = (
        "job",
        "trial",
        "run",
        "metric",
        "kernel_stat",
        "trace",
        "timeline_chunk",
        "comparison",
        "comparison_entry",
    )
    with database.read() as session:
        return {table: session.scalar(text(f"SELECT count(*) FROM {table}")) for table in tables}  # noqa: S608


def stored_files(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "traces").rglob("*") if path.is_file()]


def test_an_imported_bundle_is_a_comparison_with_traces(database: Database, store: TraceStore, bundle: Path) -> None:
    outcome = import_bundle(database, store, bundle, created_by="ada")
    assert (outcome.runs_new, outcome.runs_known) == (4, 0)
    shown = comparison(database, outcome.comparison_ids[0])
    assert (shown.name, shown.created_by, shown.job_id, shown.status) == ("H200", "ada", None, None)
    assert tuple(entry.run for entry in shown.entries) == LADDER.trials[0].runs
    assert {entry.environment for entry in shown.entries} == {H200}
    assert [entry.has_timeline for entry in shown.entries] == [True, False, False, False]
    run_id = shown.entries[0].run_id
    assert run_id is not None
    assert len(timeline_of(database, run_id).start_ns) > 0
    with store.open(trace_of(database, run_id).sha256) as raw:
        assert raw.read() == TRACE.read_bytes()


def test_history_lists_imported_comparisons_and_runs(database: Database, store: TraceStore, bundle: Path) -> None:
    import_bundle(database, store, bundle)
    (shown,) = comparisons(database, HistoryFilter(search="fmha", device_name="NVIDIA H200", status="done")).items
    assert (shown.name, shown.runs, shown.succeeded, shown.failed) == ("H200", 4, 2, 1)
    assert runs(database).total == 4
    with pytest.raises(NotFound, match="was not measured here"):
        trial(database, 1)


def test_the_same_bundle_twice_changes_nothing(
    database: Database, store: TraceStore, bundle: Path, tmp_path: Path
) -> None:
    first = import_bundle(database, store, bundle)
    before, files = rows(database), stored_files(tmp_path)
    second = import_bundle(database, store, bundle)
    assert (second.comparison_ids, second.runs_new, second.runs_known) == (first.comparison_ids, 0, 4)
    assert rows(database) == before
    assert stored_files(tmp_path) == files


def test_an_export_imported_elsewhere_and_exported_again_is_the_same_file(
    database: Database, elsewhere: Database, store: TraceStore, bundle: Path, tmp_path: Path
) -> None:
    viewed = msgspec.structs.replace(
        read_bundle(bundle).comparison, view=BundledView(base="B", by="call_time", lanes=("A",), zoom="1~2")
    )
    write_bundle(tmp_path / "viewed", LADDER, {SHA256: TRACE}, comparison=viewed)
    made = import_bundle(database, store, tmp_path / "viewed").comparison_ids[0]
    outcome = export_comparison(database, store, made, tmp_path / "one.fusescope")
    assert (outcome.runs, outcome.left_out, outcome.traces, outcome.traces_missing) == (4, 0, 1, 0)
    there = TraceStore((tmp_path / "elsewhere" / "traces").as_uri())
    imported = import_bundle(elsewhere, there, tmp_path / "one.fusescope").comparison_ids[0]
    export_comparison(elsewhere, there, imported, tmp_path / "two.fusescope")
    assert (tmp_path / "one.fusescope").read_bytes() == (tmp_path / "two.fusescope").read_bytes()
    assert read_bundle(tmp_path / "one.fusescope").results == (LADDER,)
    assert comparison(elsewhere, imported).view == ViewState(base="B", by="call_time", lanes=("A",), zoom="1~2")


def test_what_was_measured_here_is_known_when_it_comes_back(
    database: Database, store: TraceStore, tmp_path: Path
) -> None:
    job = measure(database, measured("naive"), refused("sdpa_cudnn"))
    export_comparison(database, store, job.comparison_id, tmp_path / "x.fusescope")
    before = rows(database)
    outcome = import_bundle(database, store, tmp_path / "x.fusescope")
    assert (outcome.comparison_ids, outcome.runs_new, outcome.runs_known) == ((job.comparison_id,), 0, 2)
    assert rows(database) == before


def test_a_bundle_with_some_known_runs_brings_only_the_others(
    database: Database, store: TraceStore, bundle: Path, tmp_path: Path
) -> None:
    import_bundle(database, store, bundle)
    more = results((attention(), (WITH_TRACE, measured("naive_inplace"))))
    write_bundle(tmp_path / "more", more, {})
    outcome = import_bundle(database, store, tmp_path / "more")
    assert (outcome.runs_new, outcome.runs_known) == (1, 1)
    entries = comparison(database, outcome.comparison_ids[0]).entries
    assert tuple(entry.run for entry in entries) == more.trials[0].runs
    assert entries[0].has_timeline


def test_a_trace_that_comes_later_is_given_to_its_run(
    database: Database, store: TraceStore, bundle: Path, tmp_path: Path
) -> None:
    write_bundle(tmp_path / "without", LADDER, {})
    made = import_bundle(database, store, tmp_path / "without").comparison_ids[0]
    assert not comparison(database, made).entries[0].has_timeline
    assert import_bundle(database, store, bundle).comparison_ids == (made,)
    assert comparison(database, made).entries[0].has_timeline


def test_a_comparison_over_several_machines_and_lengths_travels_whole(
    database: Database, elsewhere: Database, store: TraceStore, tmp_path: Path
) -> None:
    measure(database, measured("naive"), measured("sdpa_flash"), environment=CPU)
    measure(database, measured("naive"), refused("sdpa_cudnn"), environment=H200)
    measure(database, measured("naive", gpu_time_ns=5.0), environment=CPU)
    mixed = create_comparison(database, [4, 2, 5, 1, 3], name="Mixed")
    export_comparison(database, store, mixed, tmp_path / "mixed.fusescope")
    assert len(read_bundle(tmp_path / "mixed.fusescope").results) == 2
    made = import_bundle(elsewhere, store, tmp_path / "mixed.fusescope").comparison_ids[0]
    for found, expected in zip(comparison(elsewhere, made).entries, comparison(database, mixed).entries, strict=True):
        assert (found.key, found.run, found.environment, found.workload, found.plan) == (
            expected.key,
            expected.run,
            expected.environment,
            expected.workload,
            expected.plan,
        )


def test_what_has_no_run_or_no_machine_is_left_out_and_said_so(
    database: Database, store: TraceStore, tmp_path: Path
) -> None:
    waiting = submit_job(database, ladder())
    with pytest.raises(BundleError, match="nothing is measured"):
        export_comparison(database, store, waiting.comparison_id, tmp_path / "x")
    cancel_job(database, waiting.id)
    with pytest.raises(BundleError, match="nothing is measured"):
        export_comparison(database, store, waiting.comparison_id, tmp_path / "x")
    measure(database, measured("naive"))
    some = create_comparison(database, [1, 3], name="Some")
    assert export_comparison(database, store, some, tmp_path / "x").left_out == 1
    assert [entry.key for entry in read_bundle(tmp_path / "x").comparison.entries] == ["B"]


def with_value(value: Run) -> Results:
    return results((attention(), (value,)))


HUGE = msgspec.structs.replace(measured("naive").kernels[0], total_ns=2**70)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (results((Workload(operation="mystery", axes={}, dtype=attention().dtype), (measured("x"),))), "'mystery'"),
        (
            results((Workload(operation="attention", axes={}, dtype=attention().dtype), (measured("x"),))),
            "axis 'batch'",
        ),
        (with_value(measured("naive@warp")), "unknown execution 'warp'"),
        (with_value(measured("x" * 300)), "is no variant's name"),
        (with_value(measured("a\0b")), "is no variant's name"),
        (with_value(msgspec.structs.replace(measured("naive"), kernels=(HUGE,))), "beyond 64 bits"),
        (results((attention(), (measured("naive"), measured("naive", gpu_time_ns=1.0)))), "two runs of 'naive'"),
        (results((norm(), (measured("unfused"),)), environment=msgspec.structs.replace(H200, device="a b")), "'a b'"),
    ],
)
def test_a_bundle_that_cannot_be_shown_is_refused_whole(
    database: Database, store: TraceStore, tmp_path: Path, content: Results, message: str
) -> None:
    good = results((norm(), (measured("functional"),)))
    write_bundle(tmp_path / "x", [good, content], {})
    with pytest.raises(BundleError, match=message):
        import_bundle(database, store, tmp_path / "x")
    assert set(rows(database).values()) == {0}


def test_a_bundle_with_a_file_that_is_no_trace_is_refused_whole(
    database: Database, store: TraceStore, tmp_path: Path
) -> None:
    fake = tmp_path / "fake"
    fake.write_text('{"not": "a trace"}')
    naive = msgspec.structs.replace(measured("sdpa_flash"), trace=file_sha256(fake))
    write_bundle(tmp_path / "x", results((attention(), (WITH_TRACE, naive))), {SHA256: TRACE, file_sha256(fake): fake})
    with pytest.raises(BundleError, match=file_sha256(fake)):
        import_bundle(database, store, tmp_path / "x")
    assert set(rows(database).values()) == {0}
    assert stored_files(tmp_path) == []


def test_a_hostile_archive_leaves_nothing(database: Database, store: TraceStore, bundle: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(bundle, "a") as archive:
        archive.writestr("../../evil", b"x")
    with pytest.raises(BundleError, match="unexpected member"):
        import_bundle(database, store, bundle)
    assert set(rows(database).values()) == {0}
    assert stored_files(tmp_path) == []


def test_two_imports_at_the_same_time_are_one(
    database: Database, store: TraceStore, bundle: Path, open_again: Callable[[], Database]
) -> None:
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(lambda db: import_bundle(db, store, bundle), [open_again(), open_again()]))
    assert sorted((outcome.runs_new, outcome.runs_known) for outcome in outcomes) == [(0, 4), (4, 0)]
    assert outcomes[0].comparison_ids == outcomes[1].comparison_ids
    assert rows(database)["trace"] == 1


def test_imported_numbers_are_exact(database: Database, store: TraceStore, tmp_path: Path) -> None:
    tricky = (0.1 + 0.2, 5e-324, 1.7976931348623157e308, -0.0, 123456789.123456789)
    metric = Metric(name="gpu_time", unit="ns", statistic="median", value=tricky[0], samples=tricky)
    run = msgspec.structs.replace(measured("naive"), metrics=(metric,))
    write_bundle(tmp_path / "x", results((attention(), (run,))), {})
    made = import_bundle(database, store, tmp_path / "x").comparison_ids[0]
    found = comparison(database, made).entries[0].run
    assert found == run
    assert found is not None
    assert [str(sample) for sample in found.metrics[0].samples or ()] == [str(sample) for sample in tricky]
