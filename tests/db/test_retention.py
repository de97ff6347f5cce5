"""Raw traces are kept for as long as the settings say; what was read from them stays, and a file that comes again is
kept anew."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import select, update

from db.bundles import export_comparison, import_bundle
from db.comparisons import comparison
from db.direct_imports import DirectImport, ReadFile, store_read_files
from db.errors import NotFound, RawRemoved
from db.import_claims import claim_import, fetch_import, finish_import
from db.import_removal import delete_import
from db.imports import imported_trace, take_upload
from db.locking import one_import_at_a_time
from db.models import ImportedTraceRow, TraceRow
from db.raw_imports import open_import
from db.retention import AT_ONCE, remove_old_raw
from db.runs import store_run
from db.session import Database
from db.store import TraceStore, file_sha256
from db.traces import ReadTrace, StoredTrace, read_file, save_trace
from db.uploads import Upload
from db.views import ImportStatus
from profiles.bundle import read_bundle, write_bundle
from profiles.plan import Plan
from profiles.results import Results, Trial
from profiles.trace.child import parse_in_child
from profiles.trace.timeline import load_timeline as read_timeline
from tests.db.examples import CPU, H200, attention, measured, submit_and_claim
from tests.db.traces_of_runs import timeline_of

RECORDED = Path(__file__).parents[1] / "data" / "traces"
NAIVE, FLASH = RECORDED / "cuda_naive.json.gz", RECORDED / "cuda_sdpa_flash.json.gz"
SHA256 = file_sha256(NAIVE)
DAYS = 30.0


@pytest.fixture(scope="module")
def reads(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, ReadTrace]:
    return {path: read_file(path, tmp_path_factory.mktemp("read")) for path in (NAIVE, FLASH)}


@pytest.fixture(params=["directory", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> TraceStore:
    """A local directory, and a file system that is none."""
    return TraceStore(
        (tmp_path / "traces").as_uri() if request.param == "directory" else f"memory://{uuid.uuid4().hex}"
    )


@pytest.fixture
def naive(database: Database, store: TraceStore, reads: dict[Path, ReadTrace]) -> DirectImport:
    return bring(database, store, reads)


def bring(database: Database, store: TraceStore, reads: dict[Path, ReadTrace], path: Path = NAIVE) -> DirectImport:
    return store_read_files(database, store, [ReadFile(path, reads[path])])


def upload(database: Database, store: TraceStore, state: Path, path: Path = NAIVE) -> tuple[int, bool, bool]:
    with Upload(state, most_bytes=1 << 30) as taken:
        taken.add(path.read_bytes())
        registered = take_upload(database, store, taken, file_name=path.name, alone=False)
    return registered.import_id, registered.known, registered.raw_returned


def grow_old(database: Database, days: float = DAYS + 1, sha256: str = SHA256) -> None:
    with database.begin() as session:
        then = datetime.now(UTC) - timedelta(days=days)
        session.execute(update(TraceRow).where(TraceRow.sha256 == sha256).values(stored_at=then))


def removed_at(database: Database) -> datetime | None:
    with database.read() as session:
        return session.execute(select(TraceRow.raw_removed_at).where(TraceRow.sha256 == SHA256)).scalar_one()


def run_of(database: Database, sha256: str = SHA256) -> tuple[int, int]:
    """(the id of a run with that trace, its comparison's)."""
    job, trial_id, attempt = submit_and_claim(database, "naive")
    run = msgspec.structs.replace(measured("naive"), trace=sha256)
    owner = {"trial_id": trial_id, "worker": "w1", "attempt": attempt}
    run_id = store_run(database, run=run, environment=CPU, trace=StoredTrace(sha256), **owner)
    return run_id or 0, job.comparison_id


def test_a_raw_file_goes_once_it_is_old_enough_and_everything_else_stays(
    database: Database, store: TraceStore, naive: DirectImport
) -> None:
    run_id, _ = run_of(database)
    before = comparison(database, naive.comparison_id)
    grow_old(database, DAYS - 0.01)
    assert remove_old_raw(database, store, keep_days=DAYS) == 0
    assert (removed_at(database), store.holds(SHA256)) == (None, True)
    grow_old(database, DAYS + 0.01)
    assert remove_old_raw(database, store, keep_days=DAYS) == 1
    assert not store.holds(SHA256)
    when = removed_at(database)
    assert when is not None
    assert abs(when - datetime.now(UTC)) < timedelta(seconds=30)
    assert imported_trace(database, naive.import_ids[0]).raw_removed_at == when
    after = comparison(database, naive.comparison_id)
    assert (after.traces[0].summary, after.traces[0].contents) == (before.traces[0].summary, before.traces[0].contents)
    assert timeline_of(database, run_id).start_ns.size
    with pytest.raises(RawRemoved, match=rf"imported trace {naive.import_ids[0]} was removed on {when:%Y-%m-%d}"):
        open_import(database, store, naive.import_ids[0])


def test_removing_again_changes_nothing(database: Database, store: TraceStore, naive: DirectImport) -> None:
    del naive
    grow_old(database)
    assert remove_old_raw(database, store, keep_days=DAYS) == 1
    when = removed_at(database)
    assert remove_old_raw(database, store, keep_days=DAYS) == 0
    assert removed_at(database) == when


def test_raw_files_go_some_at_a_time_the_oldest_first(
    database: Database, store: TraceStore, reads: dict[Path, ReadTrace]
) -> None:
    read = reads[NAIVE]
    with database.begin() as session:
        session.add_all(
            TraceRow(
                sha256=f"{n:064x}", size_bytes=1, slices=0, health=(), summary=read.summary, tables=read.tables,
                stored_at=datetime.now(UTC) - timedelta(days=DAYS + 1 + n),
            )
            for n in range(AT_ONCE + 5)
        )  # fmt: skip
    assert remove_old_raw(database, store, keep_days=DAYS) == AT_ONCE
    with database.read() as session:
        left = session.scalars(select(TraceRow.sha256).where(TraceRow.raw_removed_at.is_(None))).all()
    assert sorted(left) == [f"{n:064x}" for n in range(5)]
    assert [remove_old_raw(database, store, keep_days=DAYS) for _ in range(2)] == [5, 0]


def test_a_row_still_has_its_file_where_the_store_fails_half_way(
    database: Database, store: TraceStore, naive: DirectImport, monkeypatch: pytest.MonkeyPatch
) -> None:
    del naive
    grow_old(database)

    def fails(_sha256: str) -> None:
        raise OSError("the store is away")

    with monkeypatch.context() as patched:
        patched.setattr(store, "remove", fails)
        with pytest.raises(OSError, match="away"):
            remove_old_raw(database, store, keep_days=DAYS)
    assert removed_at(database) is None
    assert remove_old_raw(database, store, keep_days=DAYS) == 1


def test_a_file_that_is_imported_again_is_kept_again_and_says_so(
    database: Database, store: TraceStore, reads: dict[Path, ReadTrace], naive: DirectImport
) -> None:
    assert (naive.known, naive.raw_returned) == ((False,), (False,))
    grow_old(database)
    remove_old_raw(database, store, keep_days=DAYS)
    again = bring(database, store, reads)
    assert (again.import_ids, again.known, again.raw_returned) == (naive.import_ids, (True,), (True,))
    trace, file = open_import(database, store, naive.import_ids[0])
    with file:
        assert file.read() == NAIVE.read_bytes()
    assert trace.raw_removed_at is None
    assert remove_old_raw(database, store, keep_days=DAYS) == 0, "it is kept as long as a new one"
    assert bring(database, store, reads).raw_returned == (False,)


def test_an_upload_of_a_known_file_brings_it_back_and_leaves_nothing_waiting(
    database: Database, store: TraceStore, naive: DirectImport, tmp_path: Path
) -> None:
    import_id = naive.import_ids[0]
    assert upload(database, store, tmp_path) == (import_id, True, False)
    grow_old(database)
    remove_old_raw(database, store, keep_days=DAYS)
    assert upload(database, store, tmp_path) == (import_id, True, True)
    _, file = open_import(database, store, import_id)
    with file:
        assert file.read() == NAIVE.read_bytes()
    assert list(store.waiting(older_than_s=-60.0)) == []


def test_an_upload_of_a_known_file_keeps_it_from_now_on(
    database: Database, store: TraceStore, naive: DirectImport, tmp_path: Path
) -> None:
    del naive
    grow_old(database)
    upload(database, store, tmp_path)
    assert remove_old_raw(database, store, keep_days=DAYS) == 0
    assert store.holds(SHA256)


def test_a_trace_that_is_measured_again_has_its_file_again(
    database: Database, store: TraceStore, naive: DirectImport, tmp_path: Path
) -> None:
    del naive
    parsed = parse_in_child(NAIVE, device=None, directory=tmp_path)

    def measured_again() -> StoredTrace:
        return save_trace(database, store, NAIVE, read_timeline(parsed.timeline_path), parsed.summary)

    assert measured_again() == StoredTrace(SHA256, raw_returned=False)
    grow_old(database)
    remove_old_raw(database, store, keep_days=DAYS)
    assert measured_again() == StoredTrace(SHA256, raw_returned=True)
    assert (removed_at(database), store.holds(SHA256)) == (None, True)


def test_an_import_of_a_runs_trace_that_is_read_after_its_file_was_removed_has_its_file(
    database: Database, store: TraceStore, reads: dict[Path, ReadTrace], naive: DirectImport, tmp_path: Path
) -> None:
    run_of(database)
    delete_import(database, store, naive.import_ids[0])
    grow_old(database)
    remove_old_raw(database, store, keep_days=DAYS)
    import_id, known, _ = upload(database, store, tmp_path)
    assert not known
    held = claim_import(database, import_id, worker="w1")
    assert held is not None
    grow_old(database)
    assert finish_import(database, store, held, reads[NAIVE])
    assert (removed_at(database), store.holds(SHA256)) == (None, True)


def test_a_file_that_an_import_is_still_to_be_read_from_stays(
    database: Database, store: TraceStore, naive: DirectImport, tmp_path: Path
) -> None:
    """An attempt died between file and row: the file lies in the trace's place, and nowhere else."""
    run_of(database)
    delete_import(database, store, naive.import_ids[0])
    import_id, _, _ = upload(database, store, tmp_path)
    held = claim_import(database, import_id, worker="w1")
    assert held is not None
    store.keep_waiting(held.spool or "", SHA256)
    grow_old(database)
    assert remove_old_raw(database, store, keep_days=DAYS) == 0
    fetch_import(store, held, tmp_path / "copy")
    assert file_sha256(tmp_path / "copy") == SHA256


def test_nothing_is_removed_beside_an_import(
    database: Database, store: TraceStore, naive: DirectImport, open_again: Callable[[], Database]
) -> None:
    """What is old is left for the next time, and the import finds the file that it counts on."""
    del naive
    grow_old(database)
    other, begun, found = open_again(), threading.Event(), []

    def removes() -> None:
        begun.set()
        found.append(remove_old_raw(other, store, keep_days=DAYS))

    thread = threading.Thread(target=removes)
    with database.begin() as session:
        one_import_at_a_time(session)
        thread.start()
        assert begun.wait(10)
        thread.join(0.5)
        assert store.holds(SHA256)
        session.execute(update(TraceRow).values(stored_at=datetime.now(UTC)))
    thread.join(30)
    assert found == [0]
    assert store.holds(SHA256)


def test_an_import_that_is_deleted_after_its_file_was_removed_leaves_nothing(
    database: Database, store: TraceStore, naive: DirectImport
) -> None:
    grow_old(database)
    remove_old_raw(database, store, keep_days=DAYS)
    delete_import(database, store, naive.import_ids[0])
    with database.read() as session:
        assert session.scalar(select(TraceRow.id)) is None
    with pytest.raises(NotFound, match="no imported trace"):
        open_import(database, store, naive.import_ids[0])


def test_a_failed_import_of_a_trace_whose_file_was_removed_leaves_no_file(
    database: Database, store: TraceStore, reads: dict[Path, ReadTrace], naive: DirectImport
) -> None:
    grow_old(database)
    remove_old_raw(database, store, keep_days=DAYS)
    gone = ReadFile(NAIVE.with_name("gone.json.gz"), reads[FLASH])
    with pytest.raises(FileNotFoundError):
        store_read_files(database, store, [ReadFile(NAIVE, reads[NAIVE]), gone])
    assert not store.holds(SHA256)
    assert imported_trace(database, naive.import_ids[0]).status is ImportStatus.DONE


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    runs = (msgspec.structs.replace(measured("naive"), trace=SHA256), measured("sdpa_flash"))
    results = Results(
        preset=None, plan=Plan(), environment=H200, trials=(Trial(workload=attention(), runs=runs),), name="H200"
    )
    write_bundle(tmp_path / "in.fusescope", results, {SHA256: NAIVE})
    return tmp_path / "in.fusescope"


def test_a_bundle_without_the_removed_trace_carries_the_numbers_and_says_what_it_lacks(
    database: Database, store: TraceStore, bundle: Path, elsewhere: Database, tmp_path: Path
) -> None:
    made = import_bundle(database, store, bundle)
    assert (made.traces_missing, made.raw_returned) == (0, 0)
    (shown,) = made.comparison_ids
    grow_old(database)
    remove_old_raw(database, store, keep_days=DAYS)
    assert [entry.raw_removed_at is not None for entry in comparison(database, shown).entries] == [True, False]
    outcome = export_comparison(database, store, shown, tmp_path / "out.fusescope")
    assert (outcome.runs, outcome.traces, outcome.traces_missing, outcome.traces_removed) == (2, 0, 1, 1)
    assert read_bundle(tmp_path / "out.fusescope").results == read_bundle(bundle).results
    there = TraceStore((tmp_path / "there").as_uri())
    lacking = import_bundle(elsewhere, there, tmp_path / "out.fusescope")
    assert (lacking.runs_new, lacking.traces_missing, lacking.raw_returned) == (2, 1, 0)
    assert not comparison(elsewhere, lacking.comparison_ids[0]).entries[0].has_timeline
    whole = import_bundle(elsewhere, there, bundle)
    assert (whole.comparison_ids, whole.runs_new, whole.traces_missing) == (lacking.comparison_ids, 0, 0)
    assert comparison(elsewhere, lacking.comparison_ids[0]).entries[0].has_timeline


def test_a_bundle_without_a_trace_finds_the_timeline_where_it_is_stored(
    database: Database, store: TraceStore, bundle: Path, tmp_path: Path
) -> None:
    (shown,) = import_bundle(database, store, bundle).comparison_ids
    grow_old(database)
    remove_old_raw(database, store, keep_days=DAYS)
    export_comparison(database, store, shown, tmp_path / "out.fusescope")
    again = import_bundle(database, store, tmp_path / "out.fusescope")
    assert (again.comparison_ids, again.traces_missing, again.raw_returned) == ((shown,), 0, 0)
    assert comparison(database, shown).entries[0].has_timeline


def test_a_bundle_that_comes_again_brings_the_removed_trace_back(
    database: Database, store: TraceStore, bundle: Path, tmp_path: Path
) -> None:
    (shown,) = import_bundle(database, store, bundle).comparison_ids
    grow_old(database)
    remove_old_raw(database, store, keep_days=DAYS)
    outcome = import_bundle(database, store, bundle)
    assert (outcome.comparison_ids, outcome.runs_new, outcome.raw_returned) == ((shown,), 0, 1)
    assert (removed_at(database), store.holds(SHA256)) == (None, True)
    exported = export_comparison(database, store, shown, tmp_path / "out.fusescope")
    assert (exported.traces, exported.traces_missing, exported.traces_removed) == (1, 0, 0)


def test_a_trace_that_goes_while_it_is_exported_is_missing_and_no_error(
    database: Database, store: TraceStore, bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shown,) = import_bundle(database, store, bundle).comparison_ids
    fetch = store.fetch

    def too_late(sha256: str, path: Path) -> None:
        store.remove(sha256)
        fetch(sha256, path)

    monkeypatch.setattr(store, "fetch", too_late)
    outcome = export_comparison(database, store, shown, tmp_path / "out.fusescope")
    assert (outcome.traces, outcome.traces_missing) == (0, 1)
    read_bundle(tmp_path / "out.fusescope")


def test_imports_that_wait_are_told_as_kept(database: Database, store: TraceStore, tmp_path: Path) -> None:
    import_id, _, _ = upload(database, store, tmp_path)
    assert imported_trace(database, import_id).raw_removed_at is None
    with database.read() as session:
        assert session.scalar(select(ImportedTraceRow.spool)) is not None
