"""Comparisons: saved, named lists of entries that resolve to runs as these arrive."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from db.compared_traces import compared_traces
from db.comparison_rows import add_entries
from db.errors import IllegalMove, NotFound
from db.job_status import job_status
from db.models import ComparisonRow, EntryRow, EnvironmentRow, JobRow, RunRow, TraceRow, TrialRow
from db.run_rows import load_runs
from db.session import Database
from db.views import ComparedRun, ComparisonKind, ComparisonView, JobStatus, ViewState
from profiles.comparison.answer import whole_answer

MOST_ENTRIES = 1000


def comparison(db: Database, comparison_id: int) -> ComparisonView:
    """NotFound where there is none."""
    with db.read() as session:
        return find_comparison(session, comparison_id)


def create_comparison(db: Database, run_ids: Sequence[int], *, name: str, created_by: str | None = None) -> int:
    """The id of a new comparison of these runs, in this order. NotFound names a run that does not exist."""
    _check_selection(run_ids, name)
    with db.begin() as session:
        query = select(RunRow.id, RunRow.trial_id, RunRow.variant).where(RunRow.id.in_(run_ids))
        found = {run_id: (trial_id, variant) for run_id, trial_id, variant in session.execute(query)}
        missing = [run_id for run_id in run_ids if run_id not in found]
        if missing:
            raise NotFound(f"there is no run {missing[0]}")
        return insert_comparison(session, [found[run_id] for run_id in run_ids], name=name, created_by=created_by)


def rename_comparison(db: Database, comparison_id: int, name: str) -> None:
    if not name.strip():
        raise IllegalMove("a comparison's name cannot be empty")
    with db.begin() as session:
        _row(session, comparison_id).name = name.strip()


def insert_comparison(
    session: Session,
    entries: Sequence[tuple[int, str]],
    *,
    name: str,
    created_by: str | None,
    keys: Sequence[str] | None = None,
    view: ViewState | None = None,
) -> int:
    """The id of a new comparison of (trial, variant) entries, which no job makes."""
    row = ComparisonRow(name=name.strip(), created_by=created_by, view=view or ViewState())
    session.add(row)
    session.flush()
    add_entries(session, row.id, entries, keys=keys)
    session.flush()
    row.answer = whole_answer(_entries(session, row.id))
    return row.id


def renew_answers(session: Session, trial_id: int) -> None:
    """Of every comparison that shows the trial: the plain text that lists show.

    Each is locked before its entries are read: of two trials that end together, the later must see the earlier's end.
    """
    session.flush()
    shown = select(EntryRow.comparison_id).where(EntryRow.trial_id == trial_id)
    query = select(ComparisonRow).where(ComparisonRow.id.in_(shown)).order_by(ComparisonRow.id).with_for_update()
    for row in session.scalars(query).all():
        row.answer = whole_answer(_entries(session, row.id))


def find_comparison(session: Session, comparison_id: int) -> ComparisonView:
    row = _row(session, comparison_id)
    return ComparisonView(
        id=row.id,
        name=row.name,
        created_at=row.created_at,
        created_by=row.created_by,
        job_id=row.job_id,
        status=_status(session, row.job_id),
        entries=_entries(session, row.id) if row.kind is ComparisonKind.RUNS else (),
        view=row.view,
        kind=row.kind,
        traces=compared_traces(session, row.id) if row.kind is ComparisonKind.TRACES else (),
    )


def _row(session: Session, comparison_id: int) -> ComparisonRow:
    row = session.get(ComparisonRow, comparison_id)
    if row is None:
        raise NotFound(f"there is no comparison {comparison_id}")
    return row


def _status(session: Session, job_id: int | None) -> JobStatus | None:
    if job_id is None:
        return None
    return JobStatus(session.execute(select(job_status()).select_from(JobRow).where(JobRow.id == job_id)).scalar_one())


def _entries(session: Session, comparison_id: int) -> tuple[ComparedRun, ...]:
    of_trace = (TraceRow.slices, TraceRow.raw_removed_at)
    query = (
        select(EntryRow, TrialRow, RunRow, EnvironmentRow.record, EnvironmentRow.ceilings, *of_trace)
        .join(TrialRow, TrialRow.id == EntryRow.trial_id)
        .outerjoin(RunRow, and_(RunRow.trial_id == EntryRow.trial_id, RunRow.variant == EntryRow.variant))
        .outerjoin(EnvironmentRow, EnvironmentRow.id == RunRow.environment_id)
        .outerjoin(TraceRow, TraceRow.id == RunRow.trace_id)
        .where(EntryRow.comparison_id == comparison_id)
        .order_by(EntryRow.position)
    )
    rows = session.execute(query).all()
    runs = load_runs(session, [row.id for _, _, row, *_ in rows if row is not None])
    return tuple(
        ComparedRun(
            key=entry.key,
            variant=entry.variant,
            run_id=row.id if row is not None else None,
            run=runs[row.id] if row is not None else None,
            trial_id=trial.id,
            trial_status=trial.status,
            workload=trial.workload,
            plan=trial.plan,
            environment=environment,
            ceilings=ceilings,
            measured_at=row.measured_at if row is not None else None,
            has_timeline=bool(slices),
            raw_removed_at=raw_removed_at,
        )
        for entry, trial, row, environment, ceilings, slices, raw_removed_at in rows
    )


def _check_selection(run_ids: Sequence[int], name: str) -> None:
    if not name.strip():
        raise IllegalMove("a comparison's name cannot be empty")
    if not 1 <= len(run_ids) <= MOST_ENTRIES:
        raise IllegalMove(f"{len(run_ids)} runs are selected; accepted are 1 to {MOST_ENTRIES:,}")
    if len(set(run_ids)) < len(run_ids):
        raise IllegalMove("a run is selected more than once")
