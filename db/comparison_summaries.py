"""One line of History per comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from db.job_status import job_status
from db.models import ComparisonRow, EntryRow, EnvironmentRow, JobRow, RunRow, TrialRow
from db.trace_summaries import trace_comparison_summaries
from db.views import ComparisonKind, ComparisonSummary, JobStatus
from profiles.comparison.figures import workload_label
from profiles.results import RunStatus
from profiles.workload import Workload


@dataclass(frozen=True, slots=True)
class _Entry:
    operation: str
    workload: Workload
    status: RunStatus | None
    device_name: str | None
    device: str | None


def comparison_summaries(session: Session, ids: Sequence[int]) -> tuple[ComparisonSummary, ...]:
    """In the order of `ids`; two queries for all of them, and one more where some show traces."""
    query = (
        select(ComparisonRow, JobRow.id, job_status())
        .outerjoin(JobRow, JobRow.id == ComparisonRow.job_id)
        .where(ComparisonRow.id.in_(ids))
    )
    rows = {row.id: (row, JobStatus(status) if job_id else None) for row, job_id, status in session.execute(query)}
    entries = _entries(session, ids)
    of_traces = [row for row, _ in rows.values() if row.kind is ComparisonKind.TRACES]
    summaries = {summary.id: summary for summary in trace_comparison_summaries(session, of_traces)}
    return tuple(
        summaries.get(comparison_id) or _summary(*rows[comparison_id], entries[comparison_id]) for comparison_id in ids
    )


def _entries(session: Session, ids: Sequence[int]) -> dict[int, list[_Entry]]:
    query = (
        select(
            EntryRow.comparison_id,
            TrialRow.operation,
            TrialRow.workload,
            RunRow.status,
            EnvironmentRow.device_name,
            EnvironmentRow.device,
        )
        .join(TrialRow, TrialRow.id == EntryRow.trial_id)
        .outerjoin(RunRow, and_(RunRow.trial_id == EntryRow.trial_id, RunRow.variant == EntryRow.variant))
        .outerjoin(EnvironmentRow, EnvironmentRow.id == RunRow.environment_id)
        .where(EntryRow.comparison_id.in_(ids))
        .order_by(EntryRow.comparison_id, EntryRow.position)
    )
    found: dict[int, list[_Entry]] = {comparison_id: [] for comparison_id in ids}
    for comparison_id, operation, workload, status, device_name, device in session.execute(query):
        found[comparison_id].append(_Entry(operation, workload, status, device_name, device))
    return found


def _summary(row: ComparisonRow, status: JobStatus | None, entries: list[_Entry]) -> ComparisonSummary:
    counts = Counter(entry.status for entry in entries)
    return ComparisonSummary(
        id=row.id,
        name=row.name,
        operation=", ".join(_distinct(entry.operation for entry in entries)),
        workload=_workloads(entries),
        answer=row.answer,
        runs=len(entries),
        succeeded=counts[RunStatus.SUCCEEDED],
        incorrect=counts[RunStatus.INCORRECT],
        failed=counts[RunStatus.FAILED],
        status=status,
        device_name=", ".join(_distinct(entry.device_name for entry in entries)) or None,
        device=", ".join(_distinct(entry.device for entry in entries)) or None,
        created_by=row.created_by,
        created_at=row.created_at,
    )


def _workloads(entries: list[_Entry]) -> str:
    """The first one, and how many others there are."""
    labels = _distinct(workload_label(entry.workload) for entry in entries)
    others = f" and {len(labels) - 1} more" if len(labels) > 1 else ""
    return f"{labels[0]}{others}"


def _distinct(values: Iterable[str | None]) -> list[str]:
    """Each value once, in the order of first appearance."""
    return list(dict.fromkeys(value for value in values if value is not None))
