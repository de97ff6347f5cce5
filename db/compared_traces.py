"""The traces of a comparison as their readers see them: imported ones and those of measured runs alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session, undefer

from db.import_views import find_imports
from db.models import ComparedTraceRow, ImportedTraceRow, RunRow, TraceRow
from db.views import ComparedTrace, ImportedTrace, ImportStatus


class _Found(NamedTuple):
    entry: ComparedTraceRow
    trace: TraceRow | None
    variant: str | None


def compared_traces(session: Session, comparison_id: int) -> tuple[ComparedTrace, ...]:
    """In their order; three queries for all of them."""
    query = (
        select(ComparedTraceRow, TraceRow, RunRow.variant)
        .outerjoin(ImportedTraceRow, ImportedTraceRow.id == ComparedTraceRow.imported_trace_id)
        .outerjoin(RunRow, RunRow.id == ComparedTraceRow.run_id)
        .outerjoin(TraceRow, TraceRow.id == func.coalesce(ImportedTraceRow.trace_id, RunRow.trace_id))
        .options(undefer(TraceRow.contents))
        .where(ComparedTraceRow.comparison_id == comparison_id)
        .order_by(ComparedTraceRow.position)
    )
    found = [_Found(*row) for row in session.execute(query)]
    imports = find_imports(session, [one.entry.imported_trace_id for one in found if one.entry.imported_trace_id])
    labels = distinct_labels([_name(one, imports) for one in found])
    return tuple(_view(one, label, imports) for one, label in zip(found, labels, strict=True))


def distinct_labels(names: Sequence[str]) -> list[str]:
    """The names, each that comes again with its number."""
    often, seen, labels = Counter(names), Counter[str](), list[str]()
    for name in names:
        seen[name] += 1
        labels.append(name if often[name] == 1 else f"{name} ({seen[name]})")
    return labels


def _name(one: _Found, imports: dict[int, ImportedTrace]) -> str:
    if one.entry.imported_trace_id is not None:
        return imports[one.entry.imported_trace_id].name
    return one.variant or f"run {one.entry.run_id}"


def _view(one: _Found, label: str, imports: dict[int, ImportedTrace]) -> ComparedTrace:
    imported = imports[one.entry.imported_trace_id] if one.entry.imported_trace_id is not None else None
    return ComparedTrace(
        key=one.entry.key,
        label=label,
        imported=imported,
        run_id=one.entry.run_id,
        variant=one.variant,
        trace_id=one.trace.id if one.trace is not None else None,
        summary=one.trace.summary if one.trace is not None else None,
        contents=one.trace.contents if one.trace is not None else None,
        has_timeline=one.trace is not None and one.trace.slices > 0,
        status=imported.status if imported is not None else ImportStatus.DONE,
        failure=imported.failure if imported is not None else None,
    )
