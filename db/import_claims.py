"""An imported trace in the hands of a worker: claim, beat, giving back, end. Each is one conditional change, fenced.

Ending takes turns with other imports and deletions, so that a trace's row and its file are there together or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from db.clock import from_now, now
from db.errors import IllegalMove
from db.import_views import import_row, locked_import_row
from db.locking import one_import_at_a_time
from db.models import ImportedTraceRow, TraceRow
from db.ownership import (
    LEASE_S,
    MOST_ATTEMPTS,
    Beat,
    claim,
    hand_back,
    owned,
    owned_row,
    requeue,
    silent,
    waiting_too_long,
)
from db.session import Database
from db.store import TraceStore
from db.trace_comparisons import renew_trace_answers
from db.traces import ReadTrace, insert_trace
from db.views import ImportFailure, ImportFailureKind, ImportStatus

LOST = ImportFailure(
    kind=ImportFailureKind.WORKER_LOST,
    message=f"the worker that read it fell silent in each of {MOST_ATTEMPTS} attempts; it may be tried again",
)

RETRIED = (ImportFailureKind.WORKER_LOST, ImportFailureKind.INTERNAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What an attempt owns: `file_name` is how the file was called, `spool` and `sha256` are where the store has it."""

    import_id: int
    worker: str
    attempt: int
    file_name: str
    sha256: str
    spool: str | None


def claim_import(db: Database, import_id: int, *, worker: str, lease_s: float = LEASE_S) -> Claim | None:
    """None when there is nothing to take: another was first, or it was deleted."""
    with db.begin() as session:
        attempt = claim(session, ImportedTraceRow, import_id, worker=worker, lease_s=lease_s)
        if attempt is None:
            return None
        row = import_row(session, import_id)
        return Claim(
            import_id=import_id,
            worker=worker,
            attempt=attempt,
            file_name=row.file_name,
            sha256=row.sha256,
            spool=row.spool,
        )


def beat_import(db: Database, held: Claim, *, lease_s: float = LEASE_S) -> Beat:
    """Extend the lease. Nobody cancels an import; one that is deleted is owned no longer."""
    extend = (
        update(ImportedTraceRow)
        .where(owned(ImportedTraceRow, held.import_id, worker=held.worker, attempt=held.attempt))
        .values(lease_until=from_now(lease_s))
        .returning(ImportedTraceRow.id)
    )
    with db.begin() as session:
        return Beat(owned=session.scalar(extend) is not None, cancel_requested=False)


def give_back_import(db: Database, held: Claim) -> bool:
    """The worker stops in good order; False where the import is no longer this attempt's."""
    with db.begin() as session:
        return hand_back(session, ImportedTraceRow, held.import_id, worker=held.worker, attempt=held.attempt)


def fetch_import(store: TraceStore, held: Claim, path: Path) -> None:
    """Copy the file to `path`: from where it waits, or from where an attempt that died at the very end put it.
    NotFound where it is in neither place."""
    if held.spool is not None and store.holds_waiting(held.spool):
        store.fetch_waiting(held.spool, path)
    else:
        store.fetch(held.sha256, path)


def finish_import(db: Database, store: TraceStore, held: Claim, read: ReadTrace) -> bool:
    """Store what was read, all of it in one transaction; False where the import is no longer this attempt's."""
    with db.begin() as session:
        row = _owned(session, held)
        if row is None:
            return False
        if row.spool is not None and store.holds_waiting(row.spool):
            store.keep_waiting(row.spool, row.sha256)
        row.trace_id = insert_trace(session, row.sha256, row.size_bytes, read)
        row.spool = None
        _end(row, ImportStatus.DONE)
        renew_trace_answers(session, row.id)
        return True


def fail_import(db: Database, store: TraceStore, held: Claim, failure: ImportFailure) -> bool:
    """Say why it was not read; False where the import is no longer this attempt's. A file that gives no trace is not
    kept; one that could not be read for other reasons is, to be tried again."""
    with db.begin() as session:
        row = _owned(session, held)
        if row is None:
            return False
        _fail(session, store, row, failure)
        return True


def expire_import_leases(db: Database, store: TraceStore) -> tuple[int, ...]:
    """The imports that went back to the queue: to be published again. One out of attempts fails as `worker_lost`."""
    with db.begin() as session:
        requeued = {row.id: requeue(row) for row in silent(session, ImportedTraceRow)}
    for import_id in (import_id for import_id, went_back in requeued.items() if not went_back):
        with db.begin() as session:  # one by one: each locks its comparisons in their order, as renaming does
            one_import_at_a_time(session)
            for row in silent(session, ImportedTraceRow):
                if row.id == import_id:
                    _fail(session, store, row, LOST)
    return tuple(import_id for import_id, went_back in requeued.items() if went_back)


def retry_import(db: Database, import_id: int) -> None:
    """Read it again, from the file that was kept. NotFound where there is no such import, IllegalMove where it did not
    fail or its file was not kept."""
    with db.begin() as session:
        row = locked_import_row(session, import_id)
        if row.status is not ImportStatus.FAILED:
            raise IllegalMove(f"imported trace {import_id} did not fail; only failed ones are tried again")
        if row.spool is None:
            raise IllegalMove(f"the file of imported trace {import_id} gives no trace and was not kept; upload another")
        queue_again(row)
        renew_trace_answers(session, import_id)


def queue_again(row: ImportedTraceRow) -> None:
    """A locked row that failed waits as if it were new."""
    row.status, row.attempt = ImportStatus.QUEUED, 0
    row.failure_kind = row.failure_message = row.started_at = row.ended_at = None
    row.published_at = now()


def stale_queued_imports(db: Database, *, older_than_s: float) -> tuple[int, ...]:
    """The queued imports that were last published so long ago, marked as published now: the caller publishes them."""
    with db.begin() as session:
        return tuple(row.id for row in waiting_too_long(session, ImportedTraceRow, older_than_s=older_than_s))


def forget_file(session: Session, store: TraceStore, row: ImportedTraceRow) -> None:
    """Remove an import's file, unless it is a stored trace's too. The caller holds the imports' lock."""
    if row.spool is not None:
        store.remove_waiting(row.spool)
        row.spool = None
    if session.scalar(select(TraceRow.id).where(TraceRow.sha256 == row.sha256)) is None:
        store.remove(row.sha256)


def _owned(session: Session, held: Claim) -> ImportedTraceRow | None:
    one_import_at_a_time(session)
    return owned_row(session, ImportedTraceRow, held.import_id, worker=held.worker, attempt=held.attempt)


def _fail(session: Session, store: TraceStore, row: ImportedTraceRow, failure: ImportFailure) -> None:
    row.failure_kind, row.failure_message = failure.kind, failure.message
    _end(row, ImportStatus.FAILED)
    if failure.kind not in RETRIED:
        forget_file(session, store, row)
    renew_trace_answers(session, row.id)


def _end(row: ImportedTraceRow, status: ImportStatus) -> None:
    row.status = status
    row.ended_at = now()
    row.lease_until = None
