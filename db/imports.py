"""Imported traces: registered with their file and their comparison in one transaction, found, listed.

`db.import_claims` has their way through a worker's hands, `db.import_removal` their end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from db.clock import now
from db.import_claims import queue_again
from db.import_views import find_import, find_imports, locked_import_row
from db.insertion import insert_new
from db.locking import one_import_at_a_time
from db.mentions import mentions
from db.models import ImportedTraceRow, KernelRow, TraceKernelRow
from db.raw_imports import keep_known
from db.session import Database
from db.store import TraceStore
from db.trace_comparisons import IMPORT, add_import, insert_trace_comparison, renamed_comparisons
from db.uploads import Upload
from db.views import HistoryFilter, ImportedTrace, ImportStatus, Page

ANY = HistoryFilter()
LONGEST_NAME = 200
ENDINGS = re.compile(r"(\.(pt|trace|json|gz|sqlite3?|db))+$", re.IGNORECASE)


class NewImport(msgspec.Struct, frozen=True, kw_only=True):
    """A file that came: `spool` is the name under which the trace store holds it until it is read."""

    name: str
    file_name: str
    sha256: str
    size_bytes: int
    spool: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """`known`: the bytes are an import already, and `spool` is not needed. A failed import is not `known`: it is read
    again. `comparison_id` is what the import was put into, None where that was not wanted. `raw_returned`: the raw file
    of a known import was no longer kept, and is again."""

    import_id: int
    known: bool
    comparison_id: int | None
    raw_returned: bool = False


def take_upload(
    db: Database,
    store: TraceStore,
    upload: Upload,
    *,
    file_name: str,
    name: str | None = None,
    comparison_id: int | None = None,
    alone: bool = True,
    submitted_by: str | None = None,
) -> Registered:
    """Put a finished upload into the store and register it, as `register_import` does; the file stays there only where
    a row speaks of it."""
    called = plain_file_name(file_name)
    new = NewImport(
        name=(name or "").strip()[:LONGEST_NAME] or plain_name(called),
        file_name=called,
        sha256=upload.finish(),
        size_bytes=upload.size_bytes,
        spool=store.take_over(upload.path),
    )
    needed = False
    try:
        registered = register_import(db, new, comparison_id=comparison_id, alone=alone, submitted_by=submitted_by)
        needed = not registered.known
        return replace(registered, raw_returned=registered.known and _keep_known(db, store, new))
    finally:
        if not needed:
            store.remove_waiting(new.spool)


def plain_file_name(name: str) -> str:
    """A file's own name, without folders and without characters that are not printed, short enough to be shown."""
    own = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return "".join(letter for letter in own if letter.isprintable()).strip()[-LONGEST_NAME:] or "trace"


def plain_name(file_name: str) -> str:
    """What people call a file: `17_qwen_decode` of `17_qwen_decode.json.gz`. Uploading pages do the same."""
    return ENDINGS.sub("", file_name) or file_name


def register_import(
    db: Database,
    new: NewImport,
    *,
    comparison_id: int | None = None,
    alone: bool = True,
    submitted_by: str | None = None,
) -> Registered:
    """Store an import that waits to be read. It is added to the comparison given, else gets a new one of its own unless
    `alone` is false. NotFound or IllegalMove where the comparison is none of traces or is full: then nothing is stored.
    """
    with db.begin() as session:
        row, known = _registered(session, new, submitted_by)
        if comparison_id is not None:
            add_import(session, comparison_id, row.id)
        elif alone:
            comparison_id = insert_trace_comparison(session, [(IMPORT, row.id)], name=None, created_by=submitted_by)
        return Registered(import_id=row.id, known=known, comparison_id=comparison_id)


def insert_or_lock(session: Session, values: Mapping[str, Any]) -> tuple[ImportedTraceRow, bool]:
    """(the import of these bytes, whether it is new), whoever else brings them; locked until the transaction ends."""
    same = select(ImportedTraceRow).where(ImportedTraceRow.sha256 == values["sha256"]).with_for_update()
    is_new = False
    while (row := session.scalar(same)) is None:  # it may be deleted again between the two statements
        is_new = insert_new(session, ImportedTraceRow, [values], key="sha256") == 1
    return row, is_new


def imported_trace(db: Database, import_id: int) -> ImportedTrace:
    """NotFound where there is none."""
    with db.read() as session:
        return find_import(session, import_id)


def imported_traces(
    db: Database, wanted: HistoryFilter = ANY, *, offset: int = 0, limit: int = 20
) -> Page[ImportedTrace]:
    """Latest first. `search` matches names, files' names and kernels' names; operations are no matter of imports."""
    conditions = _conditions(wanted)
    with db.read() as session:
        total = session.scalar(select(func.count()).select_from(ImportedTraceRow).where(*conditions)) or 0
        latest = select(ImportedTraceRow.id).where(*conditions).order_by(ImportedTraceRow.id.desc())
        ids = session.scalars(latest.offset(offset).limit(limit)).all()
        found = find_imports(session, ids)
        return Page(items=tuple(found[import_id] for import_id in ids), total=total)


def rename_import(db: Database, import_id: int, name: str) -> None:
    """Comparisons that are named after their traces are renamed with it. Without a name it is called after its file.
    NotFound where there is none."""
    with db.begin() as session:
        row = locked_import_row(session, import_id)  # before its comparisons, as all do that change both
        with renamed_comparisons(session, import_id):
            row.name = name.strip()[:LONGEST_NAME] or plain_name(row.file_name)


def _keep_known(db: Database, store: TraceStore, new: NewImport) -> bool:
    with db.begin() as session:
        one_import_at_a_time(session)
        return keep_known(session, store, new.sha256, lambda: store.keep_waiting(new.spool, new.sha256))


def _registered(session: Session, new: NewImport, submitted_by: str | None) -> tuple[ImportedTraceRow, bool]:
    """(the row, whether these bytes were known); a row that failed waits again, with the file that came now."""
    row, is_new = insert_or_lock(session, {**msgspec.structs.asdict(new), "submitted_by": submitted_by})
    if row.status is not ImportStatus.FAILED:
        return row, not is_new
    queue_again(row)
    row.spool, row.submitted_at = new.spool, now()
    session.flush()
    return row, False


def _conditions(wanted: HistoryFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.search is not None and wanted.search.strip():
        conditions.append(_mentions(wanted.search.strip()))
    if wanted.status is not None:
        conditions.append(ImportedTraceRow.status == wanted.status)
    if wanted.since is not None:
        conditions.append(ImportedTraceRow.submitted_at >= wanted.since)
    return conditions


def _mentions(text: str) -> ColumnElement[bool]:
    named = select(KernelRow.id).where(mentions(KernelRow.name, text))
    launching = select(TraceKernelRow.trace_id).where(TraceKernelRow.kernel_id.in_(named))
    return or_(
        ImportedTraceRow.name.icontains(text, autoescape=True),
        ImportedTraceRow.file_name.icontains(text, autoescape=True),
        ImportedTraceRow.trace_id.in_(launching),
    )
