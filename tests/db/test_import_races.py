"""Two that change imported traces at the same time: each is told what holds now, and nothing half stays."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest
from sqlalchemy import delete
from sqlalchemy.orm import Session

from db.comparisons import comparison
from db.direct_imports import ReadFile, store_read_files
from db.errors import IllegalMove, NotFound
from db.import_removal import delete_import
from db.imports import imported_trace, rename_import
from db.models import ComparedTraceRow, ImportedTraceRow
from db.session import Database
from db.store import TraceStore, file_sha256
from db.trace_comparisons import add_import, compare_traces, renew_trace_answers
from db.traces import ReadTrace, read_file, save_trace
from db.uploads import Upload
from db.views import ImportStatus
from profiles.trace.child import parse_in_child
from profiles.trace.timeline import load_timeline

NAIVE = Path(__file__).parents[1] / "data" / "traces" / "cuda_naive.json.gz"
A_WHILE_S = 0.3  # in which the second arrives where the first is; should it not, it finds the same a little later

Answer = TypeVar("Answer")


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> ReadTrace:
    return read_file(NAIVE, tmp_path_factory.mktemp("read"))


@pytest.fixture
def store(tmp_path: Path) -> TraceStore:
    return TraceStore((tmp_path / "traces").as_uri())


@pytest.fixture
def naive(database: Database, store: TraceStore, read: ReadTrace) -> int:
    """An import that was read, alone in comparison 1."""
    return store_read_files(database, store, [ReadFile(NAIVE, read)]).import_ids[0]


def waiting(session: Session, sha256: str = "0" * 64) -> int:
    row = ImportedTraceRow(name="b", file_name="b", sha256=sha256, size_bytes=1, status=ImportStatus.QUEUED)
    session.add(row)
    session.flush()
    return row.id


def remove(session: Session) -> None:
    session.execute(delete(ComparedTraceRow))
    session.execute(delete(ImportedTraceRow))


def at_once(
    database: Database,
    first: Callable[[Session], object],
    second: Callable[[], Answer],
    then: Callable[[Session], object] = Session.flush,
) -> Future[Answer]:
    """What becomes of the second, which comes while the first is not committed and has something to do yet."""
    with ThreadPoolExecutor(1) as pool:
        with database.begin() as session:
            first(session)
            session.flush()
            answer = pool.submit(second)
            time.sleep(A_WHILE_S)
            then(session)
        return answer


def test_a_trace_that_is_deleted_while_it_is_selected_is_not_there(database: Database, naive: int) -> None:
    answer = at_once(database, remove, lambda: compare_traces(database, [("import", naive)]))
    with pytest.raises(NotFound, match=f"no imported trace {naive}"):
        answer.result()


def test_a_trace_that_is_deleted_while_it_is_renamed_is_not_there(database: Database, naive: int) -> None:
    answer = at_once(database, remove, lambda: rename_import(database, naive, "Naive"))
    with pytest.raises(NotFound, match=f"no imported trace {naive}"):
        answer.result()


def test_a_comparison_that_gets_another_trace_is_not_deleted_as_one_of_the_first_alone(
    database: Database, store: TraceStore, naive: int
) -> None:
    answer = at_once(
        database,
        lambda session: add_import(session, 1, waiting(session)),
        lambda: delete_import(database, store, naive),
    )
    with pytest.raises(IllegalMove, match="beside other traces"):
        answer.result()
    assert len(comparison(database, 1).traces) == 2
    assert store.holds(file_sha256(NAIVE))


def test_a_file_that_is_uploaded_while_a_command_stores_it_is_one_import(
    database: Database, store: TraceStore, read: ReadTrace
) -> None:
    answer = at_once(
        database,
        lambda session: waiting(session, file_sha256(NAIVE)),
        lambda: store_read_files(database, store, [ReadFile(NAIVE, read)]),
    )
    (import_id,) = answer.result().import_ids
    assert imported_trace(database, import_id).status is ImportStatus.DONE
    assert store.holds(file_sha256(NAIVE))


def test_an_import_that_is_renamed_while_it_ends_locks_nobody_out(database: Database, naive: int) -> None:
    answer = at_once(
        database,
        lambda session: session.get(ImportedTraceRow, naive, with_for_update=True),
        lambda: rename_import(database, naive, "Naive"),
        lambda session: renew_trace_answers(session, naive),
    )
    answer.result()
    assert imported_trace(database, naive).name == comparison(database, 1).name == "Naive"


def test_a_runs_trace_has_its_file_though_an_import_of_the_same_was_deleted_meanwhile(
    database: Database, store: TraceStore, naive: int, tmp_path: Path
) -> None:
    class Slow(TraceStore):
        """Another deletes the import between file and row."""

        def put(self, path: Path) -> str:
            sha256 = super().put(path)
            deletions.pop()() if deletions else None
            return sha256

    deletions: list[Callable[[], object]] = [lambda: delete_import(database, store, naive)]
    parsed = parse_in_child(NAIVE, device=None, directory=tmp_path)
    slow = Slow((tmp_path / "traces").as_uri())
    stored = save_trace(database, slow, NAIVE, load_timeline(parsed.timeline_path), parsed.summary)
    assert not deletions
    assert store.holds(stored.sha256)


def test_an_upload_whose_last_bytes_find_no_room_leaves_nothing(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    upload = Upload(tmp_path, most_bytes=1 << 20)
    try:
        with pytest.raises(OSError, match="File too large"), upload:  # noqa: PT012 - as a full disk: at the very end
            upload.add(bytes(4096))
            resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))
            upload.finish()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not upload.path.exists()


def test_an_upload_that_finds_no_room_in_the_store_leaves_nothing_there(tmp_path: Path) -> None:
    elsewhere = Path("/dev/shm")  # noqa: S108 - another disk than the store's: there a move is a copy
    if not elsewhere.is_dir() or elsewhere.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second file system here")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Upload(elsewhere / tmp_path.name, most_bytes=1 << 20) as upload:
        upload.add(bytes(4096))
        upload.finish()
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))
            with pytest.raises(OSError, match="File too large"):
                TraceStore((tmp_path / "traces").as_uri()).take_over(upload.path)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    for folder in (upload.path.parent, upload.path.parent.parent):
        folder.rmdir()
    assert [path for path in (tmp_path / "traces").rglob("*") if path.is_file()] == []
