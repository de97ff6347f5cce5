"""One attempt at an imported trace, in the pool process: claim it, read it in a limited child, store it whole or say
why it cannot be read. All of it fenced."""

from __future__ import annotations

import logging
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from db.errors import NotFound
from db.import_claims import (
    Claim,
    beat_import,
    claim_import,
    fail_import,
    fetch_import,
    finish_import,
    give_back_import,
)
from db.session import Database, open_database
from db.settings import Settings
from db.store import TraceStore, file_sha256
from db.traces import ReadTrace, read_of
from db.views import ImportFailure, ImportFailureKind
from profiles.trace.child import parse_in_child
from profiles.trace.errors import NotWanted, TraceError, TraceTooLarge
from profiles.trace.timeline import load_timeline
from workers.heart import Heart
from workers.insistence import insist
from workers.pace import Pace

log = logging.getLogger(__name__)

PREFIX = "reading-"
LONGEST_SUFFIX = 16


class _Stopped(BaseException):
    """SIGTERM came while the file was read: raised in the main thread, which ends the child."""


def read_import(settings: Settings, import_id: int, *, worker: str, pace: Pace) -> None:
    """Read an imported trace if it is still queued; a duplicate of its message finds nothing to do."""
    with closing(open_database(settings.database_url)) as db:
        held = claim_import(db, import_id, worker=worker, lease_s=pace.lease_s)
        if held is None:
            log.info("imported trace %d: nothing to claim", import_id)
            return
        log.info("imported trace %d: attempt %d", import_id, held.attempt)
        _Attempt(db, TraceStore(settings.traces_url), held, settings.state / "work", pace).read()


@dataclass(frozen=True, slots=True)
class _Attempt:
    db: Database
    store: TraceStore
    held: Claim
    work: Path
    pace: Pace

    def read(self) -> None:
        """SIGTERM stops the reading at once; what is being stored by then is stored. What is no longer this attempt's,
        as an import that was deleted, is read no further."""
        heart = Heart(
            lambda: beat_import(self.db, self.held, lease_s=self.pace.lease_s), what=self._what, pace=self.pace
        )
        with heart, _on_sigterm(_ignore):
            try:
                with _on_sigterm(_stop), self._directory() as directory:
                    read = self._read(directory, unwanted=heart.lost.is_set)
                self._finish(read)
            except NotWanted:
                log.info("%s: given to another, or deleted, meanwhile", self._what)
            except _Stopped:
                heart.stop()
                self._give_back()
            except (TraceError, NotFound) as error:
                self._fail(_failure(error))
            except Exception as error:  # the process edge: what went wrong is recorded on the import
                log.exception("%s", self._what)
                message = f"{type(error).__name__}: {error}"
                self._fail(ImportFailure(kind=ImportFailureKind.INTERNAL, message=message))

    def _read(self, directory: Path, *, unwanted: Callable[[], bool]) -> ReadTrace:
        """The copy has the suffix of the file as it came: of a known kind a reader can say more."""
        path = directory / f"trace{_suffix(self.held.file_name)}"
        fetch_import(self.store, self.held, path)
        if file_sha256(path) != self.held.sha256:
            raise TraceError("the stored file is no longer the one that was uploaded; upload it again")
        parsed = parse_in_child(path, device=None, directory=directory, unwanted=unwanted)
        return read_of(load_timeline(parsed.timeline_path), parsed.summary, parsed.contents)

    def _finish(self, read: ReadTrace) -> None:
        owned = insist(lambda: finish_import(self.db, self.store, self.held, read), what=self._what)
        log.info("%s: %s", self._what, "read" if owned else "given to another, or deleted, meanwhile")

    def _fail(self, failure: ImportFailure) -> None:
        insist(lambda: fail_import(self.db, self.store, self.held, failure), what=self._what)
        log.info("%s: %s: %s", self._what, failure.kind, failure.message)

    def _give_back(self) -> None:
        give_back_import(self.db, self.held)
        log.info("%s: given back, this worker stops", self._what)

    @property
    def _what(self) -> str:
        return f"imported trace {self.held.import_id}"

    @contextmanager
    def _directory(self) -> Iterator[Path]:
        """This attempt's own; an attempt that was killed left one here."""
        for left in self.work.glob(f"{PREFIX}{self.held.import_id}-*"):
            shutil.rmtree(left, ignore_errors=True)
        path = self.work / f"{PREFIX}{self.held.import_id}-{self.held.attempt}"
        path.mkdir(parents=True)
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)


def sweep_readings(state: Path, *, older_than_s: float) -> int:
    """Remove the directories of readers that were killed; how many there were."""
    long_ago = time.time() - older_than_s
    removed = 0
    for path in (state / "work").glob(f"{PREFIX}*"):
        with suppress(FileNotFoundError):  # its reader ended meanwhile
            if path.stat().st_mtime < long_ago:
                shutil.rmtree(path)
                removed += 1
    return removed


def _suffix(file_name: str) -> str:
    suffix = Path(file_name).suffix
    plain = suffix.isascii() and suffix.removeprefix(".").replace("-", "").isalnum()
    return suffix if plain and len(suffix) <= LONGEST_SUFFIX else ""


def _failure(error: TraceError | NotFound) -> ImportFailure:
    if isinstance(error, NotFound):
        return ImportFailure(kind=ImportFailureKind.INTERNAL, message=str(error))
    kind = ImportFailureKind.TOO_LARGE if isinstance(error, TraceTooLarge) else ImportFailureKind.UNREADABLE
    return ImportFailure(kind=kind, message=str(error))


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise _Stopped


def _ignore(_number: int, _frame: FrameType | None) -> None:
    pass


@contextmanager
def _on_sigterm(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
