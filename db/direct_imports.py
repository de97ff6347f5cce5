"""Imported traces that were read before they are stored, as a command does that has no worker: all of them, with their
comparison, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.clock import now
from db.imports import insert_or_lock, plain_file_name, plain_name
from db.locking import one_import_at_a_time
from db.models import TraceRow
from db.raw_imports import keep_known
from db.session import Database
from db.store import TraceStore, file_sha256
from db.trace_comparisons import IMPORT, insert_trace_comparison, renew_trace_answers
from db.traces import ReadTrace, insert_trace
from db.views import ImportStatus


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file and what it says."""

    path: Path
    read: ReadTrace


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectImport:
    """The imports in the files' order, and which of them were known; equal files are one. `raw_returned`: the raw file
    of a known one was no longer kept, and is again."""

    comparison_id: int
    import_ids: tuple[int, ...]
    known: tuple[bool, ...]
    raw_returned: tuple[bool, ...]


def store_read_files(
    db: Database, store: TraceStore, files: Sequence[ReadFile], *, submitted_by: str | None = None
) -> DirectImport:
    """Store the files as imported traces that are read, and a comparison of them."""
    hashes = [file_sha256(file.path) for file in files]
    new_to_store = {sha256 for sha256 in hashes if not store.holds(sha256)}
    try:
        with db.begin() as session:
            one_import_at_a_time(session)
            stored = [
                _stored(session, store, file, sha256, submitted_by) for file, sha256 in zip(files, hashes, strict=True)
            ]
            ids, known, raw_returned = zip(*stored, strict=True)
            shown = [(IMPORT, import_id) for import_id in dict.fromkeys(ids)]
            comparison_id = insert_trace_comparison(session, shown, name=None, created_by=submitted_by)
            return DirectImport(comparison_id=comparison_id, import_ids=ids, known=known, raw_returned=raw_returned)
    except BaseException:
        _remove_unknown(db, store, new_to_store)
        raise


def _stored(
    session: Session, store: TraceStore, file: ReadFile, sha256: str, submitted_by: str | None
) -> tuple[int, bool, bool]:
    """(the import's id, whether it was read before, whether its raw file was no longer kept)."""
    called, size_bytes = plain_file_name(file.path.name), file.path.stat().st_size
    values = {"name": plain_name(called), "file_name": called, "sha256": sha256, "size_bytes": size_bytes}
    row, _ = insert_or_lock(session, {**values, "submitted_by": submitted_by, "started_at": now()})
    if row.status is ImportStatus.DONE:
        return row.id, True, keep_known(session, store, sha256, lambda: store.put(file.path))
    store.put(file.path)
    row.trace_id = insert_trace(session, sha256, size_bytes, file.read)
    row.status, row.failure_kind, row.failure_message = ImportStatus.DONE, None, None
    row.owner, row.lease_until, row.ended_at = None, None, now()
    if row.spool is not None:
        store.remove_waiting(row.spool)
        row.spool = None
    renew_trace_answers(session, row.id)
    return row.id, False, False


def _remove_unknown(db: Database, store: TraceStore, hashes: set[str]) -> None:
    with db.begin() as session:
        one_import_at_a_time(session)
        kept = TraceRow.sha256.in_(hashes), TraceRow.raw_removed_at.is_(None)
        for sha256 in hashes - set(session.scalars(select(TraceRow.sha256).where(*kept))):
            store.remove(sha256)
