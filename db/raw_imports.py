"""The files of imported traces, as they came: given out, and kept again when they come again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.errors import NotFound, RawRemoved
from db.import_views import find_import, import_row
from db.models import TraceRow
from db.session import Database
from db.store import TraceStore
from db.traces import keep_raw
from db.views import ImportedTrace, ImportStatus


def open_import(db: Database, store: TraceStore, import_id: int) -> tuple[ImportedTrace, BinaryIO]:
    """The import and its raw file. NotFound where there is none, or its file was not kept; RawRemoved where it is no
    longer."""
    with db.read() as session:
        trace, spool = find_import(session, import_id), import_row(session, import_id).spool
    if trace.status is ImportStatus.FAILED and spool is None:
        raise NotFound(f"the file of imported trace {import_id} was not kept, because it could not be read")
    if spool is not None:
        with suppress(NotFound):  # it was read meanwhile
            return trace, store.open_waiting(spool)
    if trace.raw_removed_at is not None:
        raise RawRemoved(f"imported trace {import_id}", trace.raw_removed_at)
    return trace, store.open(trace.sha256)


def keep_known(session: Session, store: TraceStore, sha256: str, put: Callable[[], object]) -> bool:
    """A file came again whose trace is stored: it is kept anew, and `put` where it is no longer kept; whether it was
    not. False also where no such trace is stored. The caller holds the imports' lock."""
    if session.scalar(select(TraceRow.id).where(TraceRow.sha256 == sha256)) is None:
        return False
    returned = keep_raw(session, sha256)
    if store.holds(sha256):
        return returned
    put()
    return True
