"""Comparisons of traces: made of imported traces and of runs' traces, added to while files arrive, answered as they are
read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.compared_traces import compared_traces
from db.errors import IllegalMove, NotFound
from db.models import ComparedTraceRow, ComparisonRow, ImportedTraceRow, RunRow
from db.session import Database
from db.trace_answers import whole_answer
from db.views import ComparisonKind
from profiles.comparison.entry import letters

MOST_TRACES = 32
IMPORT, RUN = "import", "run"


def compare_traces(
    db: Database, traces: Sequence[tuple[str, int]], *, name: str | None = None, created_by: str | None = None
) -> int:
    """The id of a new comparison of these traces, ("import", id) or ("run", id), in this order. Without a name it is
    named after them. NotFound where one of them does not exist or is a run without a trace."""
    if not 1 <= len(traces) <= MOST_TRACES:
        raise IllegalMove(f"{len(traces)} traces are selected; accepted are 1 to {MOST_TRACES}")
    if len(set(traces)) < len(traces):
        raise IllegalMove("a trace is selected more than once")
    with db.begin() as session:
        return insert_trace_comparison(session, traces, name=name, created_by=created_by)


def insert_trace_comparison(
    session: Session, traces: Sequence[tuple[str, int]], *, name: str | None, created_by: str | None
) -> int:
    labels = [_label(session, kind, number) for kind, number in traces]
    row = ComparisonRow(
        kind=ComparisonKind.TRACES, name=(name or "").strip() or joint_name(labels), created_by=created_by
    )
    session.add(row)
    session.flush()
    session.add_all(
        ComparedTraceRow(
            comparison_id=row.id,
            position=position,
            key=letters(position),
            imported_trace_id=number if kind == IMPORT else None,
            run_id=number if kind == RUN else None,
        )
        for position, (kind, number) in enumerate(traces)
    )
    session.flush()
    _renew(session, row)
    return row.id


def add_import(session: Session, comparison_id: int, import_id: int) -> None:
    """One more trace of a comparison; one that it shows already is not added again. A name that was made of its traces'
    names goes on being so. NotFound or IllegalMove where nothing can be added."""
    comparison = session.get(ComparisonRow, comparison_id, with_for_update=True)
    if comparison is None:
        raise NotFound(f"there is no comparison {comparison_id}")
    if comparison.kind is not ComparisonKind.TRACES:
        raise IllegalMove(f"comparison {comparison_id} shows runs; a trace is added only to a comparison of traces")
    of_it = ComparedTraceRow.comparison_id == comparison_id
    if (
        session.scalar(select(ComparedTraceRow).where(of_it, ComparedTraceRow.imported_trace_id == import_id))
        is not None
    ):
        return
    position = session.scalar(select(func.count()).select_from(ComparedTraceRow).where(of_it)) or 0
    if position >= MOST_TRACES:
        raise IllegalMove(f"comparison {comparison_id} has {MOST_TRACES} traces, which is the most")
    named_after = joint_name(_labels(session, comparison_id)) == comparison.name
    session.add(
        ComparedTraceRow(
            comparison_id=comparison_id, position=position, key=letters(position), imported_trace_id=import_id
        )
    )
    session.flush()
    if named_after:
        comparison.name = joint_name(_labels(session, comparison_id))
    _renew(session, comparison)


def renew_trace_answers(session: Session, import_id: int) -> None:
    """Of every comparison that shows the imported trace: the plain text that lists show. Each is locked before its
    traces are read: of two that are read together, the later must see the earlier."""
    session.flush()
    for row in _showing(session, import_id):
        _renew(session, row)


@contextmanager
def renamed_comparisons(session: Session, import_id: int) -> Iterator[None]:
    """Within it the imported trace gets another name: what names and answers made of its name say follows."""
    shown = _showing(session, import_id)
    named_after = [row for row in shown if row.name == joint_name(_labels(session, row.id))]
    yield
    session.flush()
    for row in shown:
        if row in named_after:
            row.name = joint_name(_labels(session, row.id))
        _renew(session, row)


def joint_name(labels: Sequence[str]) -> str:
    if len(labels) > 2:
        return f"{labels[0]} and {len(labels) - 1} more"
    return " and ".join(labels)


def _showing(session: Session, import_id: int) -> Sequence[ComparisonRow]:
    """Locked, so that of two changes the later sees the earlier."""
    shown = select(ComparedTraceRow.comparison_id).where(ComparedTraceRow.imported_trace_id == import_id)
    query = select(ComparisonRow).where(ComparisonRow.id.in_(shown)).order_by(ComparisonRow.id).with_for_update()
    return session.scalars(query).all()


def _renew(session: Session, row: ComparisonRow) -> None:
    row.answer = whole_answer(compared_traces(session, row.id))


def _labels(session: Session, comparison_id: int) -> list[str]:
    return [trace.label for trace in compared_traces(session, comparison_id)]


def _label(session: Session, kind: str, number: int) -> str:
    if kind == IMPORT:
        found = select(ImportedTraceRow.name).where(ImportedTraceRow.id == number)
        name = session.scalar(found.with_for_update(read=True, key_share=True))  # so that nobody deletes it meanwhile
        if name is None:
            raise NotFound(f"there is no imported trace {number}")
        return name
    if kind != RUN:
        raise IllegalMove(f"unknown kind of trace {kind!r}; expected {IMPORT!r} or {RUN!r}")
    run = session.get(RunRow, number)
    if run is None:
        raise NotFound(f"there is no run {number}")
    if run.trace_id is None:
        raise NotFound(f"run {number} has no trace")
    return run.variant
