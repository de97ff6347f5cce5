"""What a filter of History means in SQL."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Select, and_, or_, select

from db.job_status import job_status
from db.models import ComparisonRow, EntryRow, EnvironmentRow, JobRow, KernelRow, KernelStatRow, RunRow, TrialRow
from db.views import HistoryFilter, JobStatus


def comparison_conditions(wanted: HistoryFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.search is not None and wanted.search.strip():
        conditions.append(_mentions(wanted.search.strip()))
    if wanted.operation is not None:
        trials = select(EntryRow.comparison_id).join(TrialRow, TrialRow.id == EntryRow.trial_id)
        conditions.append(ComparisonRow.id.in_(trials.where(TrialRow.operation == wanted.operation)))
    if wanted.device_name is not None:
        runs = _entry_runs().join(EnvironmentRow, EnvironmentRow.id == RunRow.environment_id)
        conditions.append(ComparisonRow.id.in_(runs.where(EnvironmentRow.device_name == wanted.device_name)))
    if wanted.status is not None:
        conditions.append(_has_status(wanted.status))
    if wanted.since is not None:
        conditions.append(ComparisonRow.created_at >= wanted.since)
    return conditions


def run_conditions(wanted: HistoryFilter) -> list[ColumnElement[bool]]:
    """`status` is a run's here."""
    conditions: list[ColumnElement[bool]] = []
    if wanted.search is not None and wanted.search.strip():
        conditions.append(_run_mentions(wanted.search.strip()))
    if wanted.operation is not None:
        trials = select(TrialRow.id).where(TrialRow.operation == wanted.operation)
        conditions.append(RunRow.trial_id.in_(trials))
    if wanted.device_name is not None:
        named = select(EnvironmentRow.id).where(EnvironmentRow.device_name == wanted.device_name)
        conditions.append(RunRow.environment_id.in_(named))
    if wanted.status is not None:
        conditions.append(RunRow.status == wanted.status)
    if wanted.since is not None:
        conditions.append(RunRow.measured_at >= wanted.since)
    return conditions


def _mentions(text: str) -> ColumnElement[bool]:
    """In the comparison's name, a variant's or a kernel's."""
    return or_(
        ComparisonRow.name.icontains(text, autoescape=True),
        ComparisonRow.id.in_(select(EntryRow.comparison_id).where(EntryRow.variant.icontains(text, autoescape=True))),
        ComparisonRow.id.in_(_entry_runs().where(RunRow.id.in_(_launching(text)))),
    )


def _run_mentions(text: str) -> ColumnElement[bool]:
    """In the run's variant, a kernel's name, or the name of a comparison that shows it."""
    shown = (
        select(RunRow.id)
        .join(EntryRow, and_(EntryRow.trial_id == RunRow.trial_id, EntryRow.variant == RunRow.variant))
        .join(ComparisonRow, ComparisonRow.id == EntryRow.comparison_id)
        .where(ComparisonRow.name.icontains(text, autoescape=True))
    )
    return or_(RunRow.variant.icontains(text, autoescape=True), RunRow.id.in_(_launching(text)), RunRow.id.in_(shown))


def _launching(kernel: str) -> Select[int]:
    """The runs that launch a kernel of such a name."""
    named = select(KernelRow.id).where(KernelRow.name.icontains(kernel, autoescape=True))
    return select(KernelStatRow.run_id).where(KernelStatRow.kernel_id.in_(named))


def _has_status(status: str) -> ColumnElement[bool]:
    jobs = select(JobRow.id).where(job_status() == status)
    made = ComparisonRow.job_id.in_(jobs)
    return or_(made, ComparisonRow.job_id.is_(None)) if status == JobStatus.DONE else made


def _entry_runs() -> Select[int]:
    """The comparisons that show a run, to be narrowed by what the run is."""
    same = and_(RunRow.trial_id == EntryRow.trial_id, RunRow.variant == EntryRow.variant)
    return select(EntryRow.comparison_id).join(RunRow, same)
