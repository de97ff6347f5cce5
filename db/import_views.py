"""Imported traces as their readers see them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.errors import NotFound
from db.models import ComparedTraceRow, ImportedTraceRow, TraceRow
from db.views import ImportedTrace, ImportFailure
from profiles.trace.summary import TraceSummary


def find_import(session: Session, import_id: int) -> ImportedTrace:
    found = find_imports(session, [import_id])
    if import_id not in found:
        raise NotFound(f"there is no imported trace {import_id}")
    return found[import_id]


def find_imports(session: Session, ids: Sequence[int]) -> dict[int, ImportedTrace]:
    """The views by id, two queries for all of them."""
    shown = (
        select(ComparedTraceRow.imported_trace_id, func.min(ComparedTraceRow.comparison_id))
        .where(ComparedTraceRow.imported_trace_id.in_(ids))
        .group_by(ComparedTraceRow.imported_trace_id)
    )
    comparisons = dict(session.execute(shown).all())
    query = (
        select(ImportedTraceRow, TraceRow.summary, TraceRow.raw_removed_at)
        .outerjoin(TraceRow, TraceRow.id == ImportedTraceRow.trace_id)
        .where(ImportedTraceRow.id.in_(ids))
    )
    return {
        row.id: _view(row, summary, raw_removed_at, comparisons.get(row.id))
        for row, summary, raw_removed_at in session.execute(query)
    }


def import_row(session: Session, import_id: int) -> ImportedTraceRow:
    return _existing(session.get(ImportedTraceRow, import_id), import_id)


def locked_import_row(session: Session, import_id: int) -> ImportedTraceRow:
    """Found and locked in one statement, until the transaction ends: between two of them it may be deleted."""
    return _existing(session.get(ImportedTraceRow, import_id, with_for_update=True), import_id)


def failure_of_import(row: ImportedTraceRow) -> ImportFailure | None:
    if row.failure_kind is None:
        return None
    return ImportFailure(kind=row.failure_kind, message=row.failure_message or "")


def _existing(row: ImportedTraceRow | None, import_id: int) -> ImportedTraceRow:
    if row is None:
        raise NotFound(f"there is no imported trace {import_id}")
    return row


def _view(
    row: ImportedTraceRow, summary: TraceSummary | None, raw_removed_at: datetime | None, comparison_id: int | None
) -> ImportedTrace:
    return ImportedTrace(
        id=row.id,
        name=row.name,
        file_name=row.file_name,
        sha256=row.sha256,
        size_bytes=row.size_bytes,
        status=row.status,
        attempt=row.attempt,
        failure=failure_of_import(row),
        trace_id=row.trace_id,
        summary=summary,
        comparison_id=comparison_id,
        submitted_by=row.submitted_by,
        submitted_at=row.submitted_at,
        started_at=row.started_at,
        ended_at=row.ended_at,
        raw_removed_at=raw_removed_at,
    )
