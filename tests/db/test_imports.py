"""Imported traces on their way: registered once, claimed once, stored whole or not at all, deleted with what is
theirs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError

from db import traces
from db.comparisons import comparison, create_comparison, rename_comparison
from db.errors import IllegalMove, NotFound
from db.history import comparisons
from db.import_claims import (
    Claim,
    beat_import,
    claim_import,
    expire_import_leases,
    fail_import,
    fetch_import,
    finish_import,
    give_back_import,
    retry_import,
    stale_queued_imports,
)
from db.import_removal import delete_import, sweep_waiting
from db.imports import Registered, imported_trace, imported_traces, plain_file_name, rename_import, take_upload
from db.models import ComparisonRow, ImportedTraceRow, Row, TimelineChunkRow, TraceKernelRow, TraceRow
from db.raw_imports import open_import
from db.runs import store_run
from db.session import Database
from db.shares import look_up_link, make_link
from db.store import TraceStore, file_sha256
from db.trace_comparisons import compare_traces
from db.traces import ReadTrace, StoredTrace, load_timeline_of, read_file
from db.uploads import Upload, UploadTooLarge, sweep_uploads
from db.views import ComparisonKind, HistoryFilter, ImportFailure, ImportFailureKind, ImportStatus, JobStatus
from tests.db.examples import CPU, measured, submit_and_claim

RECORDED = Path(__file__).parents[1] / "data" / "traces"
NAIVE, FLASH = RECORDED / "cuda_naive.json.gz", RECORDED / "cuda_sdpa_flash.json.gz"
BROKEN = ImportFailure(kind=ImportFailureKind.UNREADABLE, message="truncated: the JSON ends early")


@pytest.fixture(scope="module")
def reads(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, ReadTrace]:
    return {path: read_file(path, tmp_path_factory.mktemp("read")) for path in (NAIVE, FLASH)}


class Place:
    """A database with its trace store and the state directory that uploads pass through."""

    def __init__(self, database: Database, state: Path, reads: dict[Path, ReadTrace]) -> None:
        self.database, self.state, self.reads = database, state, reads
        self.folder = state / "traces"
        self.store = TraceStore(self.folder.as_uri())

    def upload(self, path: Path, *, comparison_id: int | None = None, alone: bool = True) -> Registered:
        with Upload(self.state, most_bytes=1 << 30) as upload:
            upload.add(path.read_bytes())
            return take_upload(
                self.database,
                self.store,
                upload,
                file_name=path.name,
                comparison_id=comparison_id,
                alone=alone,
                submitted_by="sofia",
            )

    def claim(self, import_id: int, worker: str = "w1", *, lease_s: float = 20.0) -> Claim:
        held = claim_import(self.database, import_id, worker=worker, lease_s=lease_s)
        assert held is not None
        return held

    def imported(self, path: Path, *, comparison_id: int | None = None) -> Registered:
        """Uploaded and read."""
        registered = self.upload(path, comparison_id=comparison_id)
        assert finish_import(self.database, self.store, self.claim(registered.import_id), self.reads[path])
        return registered

    @property
    def files(self) -> set[str]:
        """The names of all files of the store and of uploads."""
        folders = (self.folder, self.state / "uploads")
        return {path.name for folder in folders for path in folder.rglob("*") if path.is_file()}

    def count(self, row: type[Row]) -> int:
        with self.database.read() as session:
            return session.scalar(select(func.count()).select_from(row)) or 0


@pytest.fixture
def place(database: Database, tmp_path: Path, reads: dict[Path, ReadTrace]) -> Place:
    return Place(database, tmp_path, reads)


def kept(path: Path) -> str:
    return f"{file_sha256(path)}.json.gz"


def test_an_upload_waits_in_the_queue_and_is_then_stored_with_all_that_it_says(place: Place) -> None:
    registered = place.upload(NAIVE)
    waiting = imported_trace(place.database, registered.import_id)
    assert (waiting.status, waiting.summary, waiting.trace_id) == (ImportStatus.QUEUED, None, None)
    assert (waiting.file_name, waiting.size_bytes, waiting.submitted_by) == (NAIVE.name, NAIVE.stat().st_size, "sofia")
    held, copy = place.claim(registered.import_id), place.state / "copy"
    fetch_import(place.store, held, copy)
    assert file_sha256(copy) == held.sha256 == file_sha256(NAIVE)
    assert finish_import(place.database, place.store, held, place.reads[NAIVE])

    done = imported_trace(place.database, registered.import_id)
    assert (done.status, done.summary, done.failure) == (ImportStatus.DONE, place.reads[NAIVE].summary, None)
    assert place.files == {kept(NAIVE)}
    shown = comparison(place.database, registered.comparison_id or 0)
    (trace,) = shown.traces
    assert (shown.kind, shown.entries, shown.name) == (ComparisonKind.TRACES, (), "cuda_naive")
    assert (trace.key, trace.label, trace.contents) == ("A", "cuda_naive", place.reads[NAIVE].contents)
    assert trace.has_timeline
    assert trace.trace_id is not None
    assert len(load_timeline_of(place.database, trace.trace_id).start_ns) == sum(c.n for c in place.reads[NAIVE].chunks)
    assert place.count(TraceKernelRow) == len(trace.contents.kernels if trace.contents else ()) > 0


def test_the_same_bytes_are_one_import(place: Place) -> None:
    first = place.imported(NAIVE)
    again = place.upload(NAIVE)
    assert (again.import_id, again.known, first.known) == (first.import_id, True, False)
    assert again.comparison_id != first.comparison_id
    assert place.files == {kept(NAIVE)}
    assert claim_import(place.database, first.import_id, worker="w2") is None


def test_of_several_uploads_of_one_file_at_once_one_is_new(place: Place) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: place.upload(NAIVE), range(4)))
    assert sorted(answer.known for answer in answers) == [False, True, True, True]
    assert len({answer.import_id for answer in answers}) == 1
    assert len(place.files) == 1


def test_a_refused_file_leaves_nothing_but_the_reason_and_is_read_again_when_it_comes_again(place: Place) -> None:
    registered = place.upload(NAIVE)
    assert fail_import(place.database, place.store, place.claim(registered.import_id), BROKEN)
    failed = imported_trace(place.database, registered.import_id)
    assert (failed.status, failed.failure, place.files) == (ImportStatus.FAILED, BROKEN, set())
    (line,) = comparisons(place.database).items
    assert (line.status, line.failed) == (JobStatus.FAILED, 1)
    assert line.answer is not None
    assert BROKEN.message in line.answer
    again = place.upload(NAIVE)
    assert (again.known, again.import_id) == (False, registered.import_id)
    assert finish_import(place.database, place.store, place.claim(again.import_id), place.reads[NAIVE])
    assert imported_trace(place.database, again.import_id).failure is None


def test_an_attempt_that_lost_its_lease_changes_nothing(place: Place) -> None:
    registered = place.upload(NAIVE)
    first = place.claim(registered.import_id, lease_s=-1.0)
    assert expire_import_leases(place.database, place.store) == (registered.import_id,)
    second = place.claim(registered.import_id, worker="w2")
    assert second.attempt == 2
    assert not beat_import(place.database, first).owned
    assert not finish_import(place.database, place.store, first, place.reads[NAIVE])
    assert not fail_import(place.database, place.store, first, BROKEN)
    assert place.count(TraceRow) == 0
    assert beat_import(place.database, second).owned
    assert finish_import(place.database, place.store, second, place.reads[NAIVE])


def test_an_import_whose_workers_fell_silent_twice_fails_and_may_be_tried_again(place: Place) -> None:
    registered = place.upload(NAIVE)
    place.claim(registered.import_id, lease_s=-1.0)
    expire_import_leases(place.database, place.store)
    place.claim(registered.import_id, lease_s=-1.0)
    assert expire_import_leases(place.database, place.store) == ()
    failed = imported_trace(place.database, registered.import_id)
    assert failed.failure is not None
    assert failed.failure.kind is ImportFailureKind.WORKER_LOST
    trace, file = open_import(place.database, place.store, registered.import_id)
    with file:
        assert file.read() == NAIVE.read_bytes()
    retry_import(place.database, trace.id)
    assert imported_trace(place.database, trace.id).failure is None
    with pytest.raises(IllegalMove, match="did not fail"):
        retry_import(place.database, trace.id)
    held = place.claim(trace.id)
    assert held.attempt == 1
    assert fail_import(place.database, place.store, held, BROKEN)
    with pytest.raises(IllegalMove, match="gives no trace and was not kept"):
        retry_import(place.database, trace.id)
    with pytest.raises(NotFound, match="was not kept"):
        open_import(place.database, place.store, trace.id)
    with pytest.raises(NotFound):
        retry_import(place.database, 99)
    assert place.files == set()


def test_an_import_that_is_given_back_counts_no_attempt(place: Place) -> None:
    registered = place.upload(NAIVE)
    assert give_back_import(place.database, place.claim(registered.import_id))
    assert expire_import_leases(place.database, place.store) == (registered.import_id,)
    assert place.claim(registered.import_id).attempt == 1


def test_a_lost_message_is_sent_again_by_one_reaper(place: Place) -> None:
    registered = place.upload(NAIVE)
    assert stale_queued_imports(place.database, older_than_s=60.0) == ()
    assert stale_queued_imports(place.database, older_than_s=-1.0) == (registered.import_id,)


def test_two_workers_claim_an_import_once(place: Place, open_again: Callable[[], Database]) -> None:
    registered = place.upload(NAIVE)
    databases = [open_again(), open_again()]
    with ThreadPoolExecutor(2) as pool:
        claims = list(pool.map(lambda db: claim_import(db, registered.import_id, worker="w"), databases))
    assert sum(held is not None for held in claims) == 1


def test_nothing_is_stored_when_storing_breaks_off(place: Place) -> None:
    registered = place.upload(NAIVE)
    held = place.claim(registered.import_id)
    contents = place.reads[NAIVE].contents
    assert contents is not None
    last = msgspec.structs.replace(contents.kernels[-1], calls=2**70)  # of which no row can be made
    unstorable = msgspec.structs.replace(contents, kernels=(*contents.kernels[:-1], last))
    with pytest.raises((OverflowError, DBAPIError)):
        finish_import(place.database, place.store, held, replace(place.reads[NAIVE], contents=unstorable))
    assert [place.count(row) for row in (TraceRow, TimelineChunkRow, TraceKernelRow)] == [0, 0, 0]
    again = place.state / "again"
    fetch_import(place.store, held, again)
    assert file_sha256(again) == held.sha256
    assert finish_import(place.database, place.store, held, place.reads[NAIVE])


def test_a_renamed_trace_renames_what_is_named_after_it_and_nothing_else(place: Place) -> None:
    alone = place.imported(NAIVE)
    flash = place.imported(FLASH)
    both = [("import", alone.import_id), ("import", flash.import_id)]
    made, called = compare_traces(place.database, both), compare_traces(place.database, both, name="By hand")
    rename_import(place.database, alone.import_id, " H100 ")
    names = [comparison(place.database, one or 0).name for one in (alone.comparison_id, made, called)]
    assert names == ["H100", "H100 and cuda_sdpa_flash", "By hand"]
    answers = {line.name: line.answer or "" for line in comparisons(place.database).items}
    assert "H100" in answers["By hand"]
    assert "cuda_naive" not in answers["By hand"]
    rename_import(place.database, alone.import_id, " ")
    assert comparison(place.database, alone.comparison_id or 0).name == "cuda_naive"


def test_files_of_one_batch_land_in_one_comparison_which_is_named_after_them(place: Place) -> None:
    first = place.imported(NAIVE)
    second = place.imported(FLASH, comparison_id=first.comparison_id)
    place.upload(NAIVE, comparison_id=first.comparison_id)
    shown = comparison(place.database, first.comparison_id or 0)
    assert second.comparison_id == first.comparison_id == shown.id
    assert [trace.key for trace in shown.traces] == ["A", "B"]
    assert shown.name == "cuda_naive and cuda_sdpa_flash"
    (line,) = comparisons(place.database).items
    assert (line.kind, line.runs, line.succeeded, line.status) == (ComparisonKind.TRACES, 2, 2, None)
    assert line.workload == "cuda_naive, cuda_sdpa_flash"
    assert line.device == "cuda"


def test_a_trace_is_not_added_to_a_comparison_of_runs_or_to_none(place: Place) -> None:
    job, trial_id, attempt = submit_and_claim(place.database, "naive")
    run = measured("naive")
    run_id = store_run(place.database, trial_id=trial_id, worker="w1", attempt=attempt, run=run, environment=CPU)
    assert run_id is not None
    of_runs = create_comparison(place.database, [run_id], name="Runs")
    with pytest.raises(IllegalMove, match="shows runs"):
        place.upload(NAIVE, comparison_id=of_runs)
    with pytest.raises(NotFound, match="no comparison 99"):
        place.upload(NAIVE, comparison_id=99)
    assert (place.files, place.count(ImportedTraceRow)) == (set(), 0)
    with pytest.raises(NotFound, match=f"run {run_id} has no trace"):
        compare_traces(place.database, [("run", run_id)])
    assert comparison(place.database, job.comparison_id).kind is ComparisonKind.RUNS


def test_imported_traces_stand_beside_those_of_runs_under_distinct_labels(place: Place) -> None:
    _, trial_id, attempt = submit_and_claim(place.database, "naive")
    read = place.reads[FLASH]
    sha256 = place.store.put(FLASH)
    with place.database.begin() as session:
        traces.insert_trace(session, sha256, FLASH.stat().st_size, read)
    stored = traces.StoredTrace(sha256)
    run = measured("naive")
    owner = {"trial_id": trial_id, "worker": "w1", "attempt": attempt}
    run_id = store_run(place.database, run=run, environment=CPU, trace=stored, **owner)
    assert run_id is not None
    imported = place.imported(NAIVE)
    rename_import(place.database, imported.import_id, "naive")
    made = compare_traces(place.database, [("run", run_id), ("import", imported.import_id)], name="Beside")
    first, second = comparison(place.database, made).traces
    assert (first.label, first.run_id, first.variant, first.imported) == ("naive (1)", run_id, "naive", None)
    assert (second.label, second.run_id) == ("naive (2)", None)
    assert (first.contents, first.status) == (read.contents, ImportStatus.DONE)
    rename_comparison(place.database, made, "Side by side")
    token, _ = make_link(place.database, made)
    opened = look_up_link(place.database, token)
    assert opened is not None
    assert [trace.trace_id for trace in opened.comparison.traces] == [first.trace_id, second.trace_id]
    for wrong in ([], [("import", imported.import_id)] * 2, [("file", 1)]):
        with pytest.raises(IllegalMove):
            compare_traces(place.database, wrong)


def test_contents_are_added_to_a_trace_that_was_stored_before_there_were_any(place: Place) -> None:
    without = replace(place.reads[NAIVE], contents=None)
    place.store.put(NAIVE)
    with place.database.begin() as session:
        trace_id = traces.insert_trace(session, file_sha256(NAIVE), NAIVE.stat().st_size, without)
    registered = place.imported(NAIVE)
    (trace,) = comparison(place.database, registered.comparison_id or 0).traces
    assert trace.trace_id == trace_id
    assert trace.contents == place.reads[NAIVE].contents
    assert place.files == {kept(NAIVE)}


def test_deleting_an_import_takes_its_own_comparison_and_its_file(place: Place) -> None:
    registered = place.imported(NAIVE)
    token, _ = make_link(place.database, registered.comparison_id or 0)
    removed = delete_import(place.database, place.store, registered.import_id)
    assert removed.comparison_ids == (registered.comparison_id,)
    counted = (ImportedTraceRow, ComparisonRow, TraceRow, TimelineChunkRow, TraceKernelRow)
    assert [place.count(row) for row in counted] == [0] * 5
    assert place.files == set()
    assert look_up_link(place.database, token) is None
    with pytest.raises(NotFound):
        delete_import(place.database, place.store, registered.import_id)
    assert place.upload(NAIVE).import_id > registered.import_id, "a number is never given twice"


def test_an_import_beside_others_is_deleted_only_with_those_comparisons(place: Place) -> None:
    first = place.imported(NAIVE)
    place.imported(FLASH, comparison_id=first.comparison_id)
    with pytest.raises(IllegalMove, match=f"comparison {first.comparison_id} shows it beside other traces"):
        delete_import(place.database, place.store, first.import_id)
    assert place.files == {kept(NAIVE), kept(FLASH)}
    delete_import(place.database, place.store, first.import_id, with_comparisons=True)
    assert place.files == {kept(FLASH)}
    assert imported_traces(place.database).total == 1


def test_a_deleted_import_whose_trace_is_a_runs_too_leaves_it(place: Place) -> None:
    registered = place.imported(NAIVE)
    _, trial_id, attempt = submit_and_claim(place.database, "naive")
    stored = traces.StoredTrace(file_sha256(NAIVE))
    owner = {"trial_id": trial_id, "worker": "w1", "attempt": attempt}
    run_id = store_run(place.database, run=measured("naive"), environment=CPU, trace=stored, **owner)
    removed = delete_import(place.database, place.store, registered.import_id)
    assert removed.kept_for_runs == (run_id,)
    assert (place.files, place.count(TraceRow)) == ({kept(NAIVE)}, 1)


def test_an_import_that_is_deleted_while_it_is_read_stores_nothing(place: Place) -> None:
    registered = place.upload(NAIVE)
    held = place.claim(registered.import_id)
    delete_import(place.database, place.store, registered.import_id)
    assert not beat_import(place.database, held).owned
    assert not finish_import(place.database, place.store, held, place.reads[NAIVE])
    assert (place.files, place.count(TraceRow)) == (set(), 0)


def test_lists_are_filtered_by_state_and_by_what_the_traces_hold(place: Place) -> None:
    place.imported(NAIVE)
    place.upload(FLASH)
    kernel = (place.reads[NAIVE].contents or pytest.fail("no contents")).kernels[0].name

    def found(wanted: HistoryFilter) -> list[str]:
        return [trace.file_name for trace in imported_traces(place.database, wanted).items]

    assert found(HistoryFilter()) == [FLASH.name, NAIVE.name]
    assert found(HistoryFilter(search=kernel)) == [NAIVE.name]
    assert found(HistoryFilter(search="SDPA_flash")) == [FLASH.name]
    assert found(HistoryFilter(status="queued")) == [FLASH.name]
    assert [trace.id for trace in imported_traces(place.database, offset=1, limit=1).items] == [1]


def test_history_finds_comparisons_of_traces_by_name_kernel_state_and_by_the_run_beside_them(place: Place) -> None:
    naive = place.imported(NAIVE)
    place.upload(FLASH)
    _, trial_id, attempt = submit_and_claim(place.database, "sdpa_flash")
    run = measured("sdpa_flash", kernel="of_the_run_alone")
    owned = {"trial_id": trial_id, "worker": "w1", "attempt": attempt}
    trace = StoredTrace(file_sha256(NAIVE))
    run_id = store_run(place.database, run=run, environment=CPU, trace=trace, **owned)
    compare_traces(place.database, [("import", naive.import_id), ("run", run_id or 0)], name="Beside it")
    kernel = (place.reads[NAIVE].contents or pytest.fail("no contents")).kernels[0].name

    def found(**wanted: str) -> list[str]:
        return [shown.name for shown in comparisons(place.database, HistoryFilter(**wanted)).items]

    assert found(search=kernel.upper()) == ["Beside it", "cuda_naive"]
    assert found(search="cuda_NAIVE") == ["Beside it", "cuda_naive"]
    assert found(search="of_the_run") == ["Beside it", "Ladder"]
    assert found(search="sdpa_flash") == ["Beside it", "Ladder", "cuda_sdpa_flash"]
    assert found(device_name=CPU.device_name) == ["Beside it", "Ladder"]
    assert found(status="queued") == ["cuda_sdpa_flash"]
    assert found(status="done") == ["Beside it", "cuda_naive"]
    held = place.claim(2)
    assert found(status="running") == ["Ladder", "cuda_sdpa_flash"]
    fail_import(place.database, place.store, held, BROKEN)
    assert found(status="failed") == ["cuda_sdpa_flash"]


def test_uploads_are_bounded_and_what_a_crash_leaves_is_swept(place: Place) -> None:
    with Upload(place.state, most_bytes=10) as upload:
        upload.add(b"0123456789")
        with pytest.raises(UploadTooLarge, match="limit of 10 bytes"):
            upload.add(b"x")
    assert place.files == set()
    registered = place.upload(NAIVE)
    (wanted,) = place.files
    left = place.state / "uploads" / "left.part"
    left.write_bytes(b"[")
    forgotten = place.folder / "waiting" / ("0" * 32)
    forgotten.write_bytes(b"[")
    assert sweep_uploads(place.state, older_than_s=60.0) == 0
    assert sweep_waiting(place.database, place.store, older_than_s=60.0) == 0
    for path in place.folder.rglob("*"):
        os.utime(path, (time.time() - 100,) * 2)
    os.utime(left, (time.time() - 100,) * 2)
    assert sweep_uploads(place.state, older_than_s=60.0) == 1
    assert sweep_waiting(place.database, place.store, older_than_s=60.0) == 1
    assert place.files == {wanted}
    assert finish_import(place.database, place.store, place.claim(registered.import_id), place.reads[NAIVE])


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ("trace.json", "trace.json"),
        ("../../etc/passwd", "passwd"),
        ("C:\\runs\\a.json.gz", "a.json.gz"),
        ("a\r\nSet-Cookie: x.json", "aSet-Cookie: x.json"),
        ("\u202egnp.json", "gnp.json"),
        ("/", "trace"),
        ("x" * 300 + ".json", "x" * 195 + ".json"),
    ],
)
def test_a_files_name_is_a_name_and_nothing_else(given: str, plain: str) -> None:
    assert plain_file_name(given) == plain
