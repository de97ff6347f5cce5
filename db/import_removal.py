"""Deleting imported traces, and files that no import speaks of (any more)."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, delete, exists, func, select
from sqlalchemy.orm import Session

from db.errors import IllegalMove
from db.import_claims import forget_file
from db.import_views import locked_import_row
from db.locking import one_import_at_a_time
from db.models import (
    ComparedTraceRow,
    ComparisonRow,
    ImportedTraceRow,
    RunRow,
    ShareLinkRow,
    TimelineChunkRow,
    TraceKernelRow,
    TraceRow,
)
from db.session import Database
from db.store import TraceStore

FORGOTTEN_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """`comparison_ids` went with the import, and their links; `kept_for_runs` are the runs whose trace is the same
    file, which therefore stays."""

    import_id: int
    comparison_ids: tuple[int, ...]
    kept_for_runs: tuple[int, ...]


def delete_import(db: Database, store: TraceStore, import_id: int, *, with_comparisons: bool = False) -> Removed:
    """Remove an import, the comparisons that show it alone, and its file unless a run has the same.

    IllegalMove where a comparison shows it beside other traces, unless those comparisons shall go too; NotFound where
    there is no such import.
    """
    with db.begin() as session:
        one_import_at_a_time(session)
        row = locked_import_row(session, import_id)
        shown = _shown_by(session, import_id)
        others = [comparison_id for comparison_id, traces in shown.items() if traces > 1]
        if others and not with_comparisons:
            raise IllegalMove(_still_shown(import_id, others))
        _delete_comparisons(session, tuple(shown))
        trace_id = row.trace_id
        runs = _runs_of(session, trace_id)
        session.execute(delete(ImportedTraceRow).where(ImportedTraceRow.id == import_id))
        if trace_id is not None and not runs:
            _delete_trace(session, trace_id)
        forget_file(session, store, row)
        session.expunge(row)
    return Removed(import_id=import_id, comparison_ids=tuple(shown), kept_for_runs=runs)


def sweep_waiting(db: Database, store: TraceStore, *, older_than_s: float = FORGOTTEN_S) -> int:
    """Remove the waiting files that no import names: what a crash between file and row left. How many there were."""
    removed = 0
    for name in store.waiting(older_than_s=older_than_s):
        with db.read() as session:
            wanted = session.scalar(select(exists().where(ImportedTraceRow.spool == name)))
        if not wanted:
            store.remove_waiting(name)
            removed += 1
    return removed


def _shown_by(session: Session, import_id: int) -> dict[int, int]:
    """How many traces each comparison shows that shows the import. They are locked first, as adding a trace locks one:
    none becomes more than was counted."""
    shows = select(ComparedTraceRow.comparison_id).where(ComparedTraceRow.imported_trace_id == import_id)
    session.execute(
        select(ComparisonRow.id).where(ComparisonRow.id.in_(shows)).order_by(ComparisonRow.id).with_for_update()
    )
    counts = (
        select(ComparedTraceRow.comparison_id, func.count())
        .where(ComparedTraceRow.comparison_id.in_(shows))
        .group_by(ComparedTraceRow.comparison_id)
        .order_by(ComparedTraceRow.comparison_id)
    )
    return dict(session.execute(counts).all())


def _still_shown(import_id: int, comparison_ids: list[int]) -> str:
    which = ", ".join(str(comparison_id) for comparison_id in comparison_ids)
    shows = "comparison {} shows" if len(comparison_ids) == 1 else "comparisons {} show"
    return (
        f"imported trace {import_id} stays: {shows.format(which)} it beside other traces; "
        "ask for comparisons=true to delete them too"
    )


def _delete_comparisons(session: Session, comparison_ids: tuple[int, ...]) -> None:
    for column in (ShareLinkRow.comparison_id, ComparedTraceRow.comparison_id, ComparisonRow.id):
        session.execute(delete(column.class_).where(column.in_(comparison_ids)))


def _runs_of(session: Session, trace_id: int | None) -> tuple[int, ...]:
    if trace_id is None:
        return ()
    return tuple(session.scalars(select(RunRow.id).where(RunRow.trace_id == trace_id).order_by(RunRow.id)))


def _delete_trace(session: Session, trace_id: int) -> None:
    of_it: list[tuple[type, ColumnElement[bool]]] = [
        (TimelineChunkRow, TimelineChunkRow.trace_id == trace_id),
        (TraceKernelRow, TraceKernelRow.trace_id == trace_id),
        (TraceRow, TraceRow.id == trace_id),
    ]
    for row, condition in of_it:
        session.execute(delete(row).where(condition))
