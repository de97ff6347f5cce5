"""The files of imported traces, as they came."""

from __future__ import annotations

from contextlib import suppress
from typing import BinaryIO

from db.errors import NotFound
from db.import_views import find_import, import_row
from db.session import Database
from db.store import TraceStore
from db.views import ImportedTrace, ImportStatus


def open_import(db: Database, store: TraceStore, import_id: int) -> tuple[ImportedTrace, BinaryIO]:
    """The import and its raw file. NotFound where there is none, or its file was not kept."""
    with db.read() as session:
        trace, spool = find_import(session, import_id), import_row(session, import_id).spool
    if trace.status is ImportStatus.FAILED and spool is None:
        raise NotFound(f"the file of imported trace {import_id} was not kept, because it could not be read")
    if spool is not None:
        with suppress(NotFound):  # it was read meanwhile
            return trace, store.open_waiting(spool)
    return trace, store.open(trace.sha256)
