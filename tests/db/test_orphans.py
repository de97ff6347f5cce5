"""Files that a crash left between file and row go after a while; what a row names, or is about to, stays."""

from __future__ import annotations

import logging
import os
import threading
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from sqlalchemy import update
from sqlalchemy.orm import Session

from db.direct_imports import ReadFile, store_read_files
from db.import_claims import claim_import, fetch_import, finish_import
from db.imports import take_upload
from db.locking import one_import_at_a_time
from db.models import TraceRow
from db.orphans import FEW, sweep_orphans
from db.retention import remove_old_raw
from db.runs import TextFiles, store_run
from db.session import Database
from db.store import Kind, TraceStore, file_sha256
from db.traces import ReadTrace, read_file, save_trace
from db.uploads import Upload
from profiles.compilation import Artefact
from profiles.trace.child import parse_in_child
from profiles.trace.timeline import load_timeline
from tests.db.examples import CPU, measured, submit_and_claim

RECORDED = Path(__file__).parents[1] / "data" / "traces"
NAIVE, FLASH = RECORDED / "cuda_naive.json.gz", RECORDED / "cuda_sdpa_flash.json.gz"
SHA256 = file_sha256(NAIVE)
OLD_S = 100.0
LIMIT_S = 60.0


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> ReadTrace:
    return read_file(NAIVE, tmp_path_factory.mktemp("read"))


class Local(TraceStore):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder.as_uri())
        self.folder = folder

    def names(self) -> set[str]:
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()}

    def age(self) -> None:
        """All that is there was put a while ago."""
        for path in self.folder.rglob("*"):
            os.utime(path, (time.time() - OLD_S,) * 2)

    def write(self, name: str) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_bytes(b"[")


class InMemory(TraceStore):
    def __init__(self) -> None:
        self.folder = f"/{uuid.uuid4().hex}"
        super().__init__(f"memory:/{self.folder}")

    def names(self) -> set[str]:
        return {name.removeprefix(f"{self.folder}/") for name in MemoryFileSystem.store if name.startswith(self.folder)}

    def age(self) -> None:
        for name, file in MemoryFileSystem.store.items():
            if name.startswith(self.folder):
                file.modified = datetime.now(UTC) - timedelta(seconds=OLD_S)

    def write(self, name: str) -> None:
        self._files.pipe_file(f"{self.folder}/{name}", b"[")


@pytest.fixture(params=["directory", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Local | InMemory:
    return Local(tmp_path / "traces") if request.param == "directory" else InMemory()


def place(sha256: str) -> str:
    return f"{sha256[:2]}/{sha256}.json.gz"


def text_place(sha256: str) -> str:
    return f"artefacts/{sha256[:2]}/{sha256}.txt"


def store_with_code(database: Database, store: TraceStore, code: Path) -> int | None:
    artefact = Artefact(name="code.py", sha256=file_sha256(code), size_bytes=code.stat().st_size)
    run = msgspec.structs.replace(measured("naive"), artefacts=(artefact,))
    _, trial_id, attempt = submit_and_claim(database, "naive")
    owner = {"trial_id": trial_id, "worker": "w1", "attempt": attempt}
    return store_run(database, run=run, environment=CPU, files=TextFiles(store, (code,)), **owner)


def sweep(database: Database, store: TraceStore) -> int:
    return sweep_orphans(database, store, older_than_s=LIMIT_S)


def test_what_no_row_names_goes_once_it_is_old_and_what_one_names_stays(
    database: Database, store: Local | InMemory, read: ReadTrace, tmp_path: Path
) -> None:
    (tmp_path / "code").write_text("def kernel(): ...")
    store_read_files(database, store, [ReadFile(NAIVE, read)])
    store_with_code(database, store, tmp_path / "code")
    ours = store.names()
    left = ("a" * 64, "b" * 64)
    unfinished = {f"{folder}ab/.{'c' * 32}.part" for folder in ("", "artefacts/")}
    strangers = {"README", "ab/notes.txt", f"ab/{'d' * 64}.json.gz", f"waiting/{'e' * 32}", f"other/{'f' * 64}.txt"}
    orphans = {place(left[0]), text_place(left[1]), *unfinished}
    for name in orphans | strangers:
        store.write(name)
    assert sweep(database, store) == 0
    assert store.names() == ours | orphans | strangers
    store.age()
    assert sweep(database, store) == 4
    assert store.names() == ours | strangers
    assert sweep(database, store) == 0


def test_nothing_is_swept_of_a_store_that_is_not_there(database: Database, tmp_path: Path) -> None:
    assert sweep(database, TraceStore((tmp_path / "nowhere").as_uri())) == 0
    assert not (tmp_path / "nowhere").exists()


def test_the_file_of_a_trace_that_counts_as_removed_is_an_orphan(
    database: Database, store: Local | InMemory, read: ReadTrace
) -> None:
    """What brought it back died before its row said so."""
    store_read_files(database, store, [ReadFile(NAIVE, read)])
    with database.begin() as session:
        session.execute(update(TraceRow).values(stored_at=datetime.now(UTC) - timedelta(days=2)))
    remove_old_raw(database, store, keep_days=1)
    store.put(NAIVE)
    store.age()
    assert sweep(database, store) == 1
    assert not store.holds(SHA256)


def test_the_file_of_an_import_whose_attempt_died_before_its_row_is_no_orphan(
    database: Database, store: Local | InMemory, read: ReadTrace, tmp_path: Path
) -> None:
    with Upload(tmp_path, most_bytes=1 << 30) as upload:
        upload.add(NAIVE.read_bytes())
        import_id = take_upload(database, store, upload, file_name="a.json.gz").import_id
    held = claim_import(database, import_id, worker="w1")
    assert held is not None
    store.keep_waiting(held.spool or "", SHA256)
    store.age()
    assert sweep(database, store) == 0
    fetch_import(store, held, tmp_path / "copy")
    assert finish_import(database, store, held, read)
    assert sweep(database, store) == 0
    assert store.holds(SHA256)


def test_an_orphan_that_its_writer_counts_on_is_put_again(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file of before a crash: it is there when a trace is put, and swept before its row is stored."""
    store = Local(tmp_path / "traces")
    store.put(NAIVE)
    store.age()
    put, sweeps = store.put, [1]

    def put_then_sweep(path: Path) -> str:
        sha256 = put(path)
        if sweeps:
            assert sweep(database, store) == sweeps.pop()
        return sha256

    monkeypatch.setattr(store, "put", put_then_sweep)
    parsed = parse_in_child(NAIVE, device=None, directory=tmp_path)
    stored = save_trace(database, store, NAIVE, load_timeline(parsed.timeline_path), parsed.summary)
    assert not sweeps
    assert store.holds(stored.sha256)


def test_generated_code_that_was_swept_before_its_run_is_stored_is_put_again(
    database: Database, tmp_path: Path
) -> None:
    store, code = Local(tmp_path / "traces"), tmp_path / "code"
    code.write_text("def kernel(): ...")
    sha256 = store.put_artefact(code)
    store.age()
    TextFiles(store, (code,)).put()
    assert sweep(database, store) == 1
    store_with_code(database, store, code)
    assert store.read_artefact(sha256) == code.read_bytes()
    store.age()
    assert sweep(database, store) == 0


@pytest.mark.parametrize("kind", list(Kind))
def test_a_file_whose_row_comes_while_it_is_swept_stays(  # noqa: PLR0917 - fixtures
    database: Database,
    open_again: Callable[[], Database],
    read: ReadTrace,
    tmp_path: Path,
    kind: Kind,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The sweep took it for an orphan, by a look before the row was stored."""
    store, other = Local(tmp_path / "traces"), open_again()
    code = tmp_path / "code"
    code.write_text("def kernel(): ...")
    sha256 = store.put(NAIVE) if kind is Kind.RAW else store.put_artefact(code)
    store.age()
    is_old, rows = store.is_old, [True]

    def then_the_row(kind: Kind, sha256: str, *, older_than_s: float) -> bool:
        if rows and rows.pop():
            if kind is Kind.RAW:
                store_read_files(other, store, [ReadFile(NAIVE, read)])
            else:
                store_with_code(other, store, code)
        return is_old(kind, sha256, older_than_s=older_than_s)

    monkeypatch.setattr(store, "is_old", then_the_row)
    assert sweep(database, store) == 0
    assert not rows
    assert place(sha256) in store.names() or text_place(sha256) in store.names()


def test_a_file_that_is_put_anew_while_it_is_swept_stays(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Local(tmp_path / "traces")
    store.put(NAIVE)
    store.age()
    is_old, looks = store.is_old, []

    def put_after_the_first_look(kind: Kind, sha256: str, *, older_than_s: float) -> bool:
        found = is_old(kind, sha256, older_than_s=older_than_s)
        looks.append(found)
        if len(looks) == 1:
            store.remove(sha256)
            store.put(NAIVE)
        return found

    monkeypatch.setattr(store, "is_old", put_after_the_first_look)
    assert sweep(database, store) == 0
    assert looks == [True, False]
    assert store.holds(SHA256)


def test_nothing_is_swept_beside_an_import(
    database: Database, open_again: Callable[[], Database], read: ReadTrace, tmp_path: Path
) -> None:
    """One that has put its file and not yet stored its row."""
    store, other, found = Local(tmp_path / "traces"), open_again(), list[int]()
    store.put(NAIVE)
    store.age()
    thread = threading.Thread(target=lambda: found.append(sweep(other, store)))
    with database.begin() as session:
        one_import_at_a_time(session)
        thread.start()
        thread.join(0.5)
        assert store.holds(SHA256)
        _insert(session, read)
    thread.join(30)
    assert found == [0]
    assert store.holds(SHA256)


def _insert(session: Session, read: ReadTrace) -> None:
    session.add(TraceRow(sha256=SHA256, size_bytes=1, slices=0, health=(), summary=read.summary, tables=read.tables))


def test_a_store_that_is_full_of_strangers_is_taken_for_anothers(
    database: Database, store: Local | InMemory, caplog: pytest.LogCaptureFixture
) -> None:
    """As where a new database is given the directory of an old one."""
    for n in range(FEW + 1):
        store.write(place(f"{n:064x}"))
    store.age()
    with caplog.at_level(logging.WARNING):
        assert sweep(database, store) == 0
    assert "is it another database's" in caplog.text
    assert len(store.names()) == FEW + 1
