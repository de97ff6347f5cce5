"""What a filter of History means in SQL.

A search is a union of ids: of three conditions joined by OR each row would be looked at for each of them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import CTE, ColumnElement, CompoundSelect, Select, and_, case, or_, select, union

from db.among import among
from db.job_status import job_status
from db.mentions import mentions
from db.models import (
    ComparedTraceRow,
    ComparisonRow,
    EntryRow,
    EnvironmentRow,
    ImportedTraceRow,
    JobRow,
    KernelRow,
    KernelStatRow,
    RunRow,
    TraceKernelRow,
    TrialRow,
)
from db.views import ComparisonKind, HistoryFilter, ImportStatus, JobStatus


def comparison_conditions(wanted: HistoryFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.search is not None and wanted.search.strip():
        conditions.append(ComparisonRow.id.in_(_mentioning(wanted.search.strip())))
    if wanted.operation is not None:
        trials = select(EntryRow.comparison_id).join(TrialRow, TrialRow.id == EntryRow.trial_id)
        conditions.append(ComparisonRow.id.in_(trials.where(TrialRow.operation == wanted.operation)))
    if wanted.device_name is not None:
        measured = _runs("measured", RunRow.environment_id.in_(_environments(wanted.device_name)))
        conditions.append(ComparisonRow.id.in_(union(*_showing(measured))))
    if wanted.status is not None:
        conditions.append(ComparisonRow.id.in_(_with_status(wanted.status)))
    if wanted.since is not None:
        conditions.append(ComparisonRow.created_at >= wanted.since)
    return conditions


def run_conditions(wanted: HistoryFilter) -> list[ColumnElement[bool]]:
    """`status` is a run's here."""
    conditions: list[ColumnElement[bool]] = []
    if wanted.search is not None and wanted.search.strip():
        conditions.append(RunRow.id.in_(_runs_mentioning(wanted.search.strip())))
    if wanted.operation is not None:
        trials = select(TrialRow.id).where(TrialRow.operation == wanted.operation)
        conditions.append(RunRow.trial_id.in_(trials))
    if wanted.device_name is not None:
        conditions.append(RunRow.environment_id.in_(_environments(wanted.device_name)))
    if wanted.status is not None:
        conditions.append(RunRow.status == wanted.status)
    if wanted.since is not None:
        conditions.append(RunRow.measured_at >= wanted.since)
    return conditions


def _mentioning(text: str) -> CompoundSelect[int]:
    """The comparisons whose name has the text in it, or that of a variant, of a trace or of a kernel."""
    kernels = _kernels(text)
    return union(
        _named(text),
        select(EntryRow.comparison_id).where(mentions(EntryRow.variant, text)),
        *_showing(_runs("launching", RunRow.id.in_(_launching(kernels)))),
        *_traces_mentioning(text, kernels),
    )


def _traces_mentioning(text: str, kernels: CTE) -> tuple[Select[int], ...]:
    """The comparisons of traces, by what their imports and runs are called, and by the kernels of imports."""
    shown = select(ComparedTraceRow.comparison_id)
    imported = shown.join(ImportedTraceRow, ImportedTraceRow.id == ComparedTraceRow.imported_trace_id)
    measured = shown.join(RunRow, RunRow.id == ComparedTraceRow.run_id)
    recorded = select(TraceKernelRow.trace_id).where(among(TraceKernelRow.kernel_id, select(kernels.c.id)))
    named = (ImportedTraceRow.name, ImportedTraceRow.file_name)
    return (
        imported.where(or_(*(column.icontains(text, autoescape=True) for column in named))),
        measured.where(mentions(RunRow.variant, text)),
        imported.where(ImportedTraceRow.trace_id.in_(recorded)),
    )


def _runs_mentioning(text: str) -> CompoundSelect[int]:
    """The runs whose variant has the text in it, or a kernel's name, or the name of a comparison that shows them."""
    return union(
        select(RunRow.id).where(mentions(RunRow.variant, text)),
        _launching(_kernels(text)),
        select(RunRow.id)
        .join(EntryRow, and_(EntryRow.trial_id == RunRow.trial_id, EntryRow.variant == RunRow.variant))
        .where(EntryRow.comparison_id.in_(_named(text))),
    )


def _showing(runs: CTE) -> tuple[Select[int], Select[int]]:
    """The comparisons of these runs, and those of their traces."""
    same = and_(runs.c.trial_id == EntryRow.trial_id, runs.c.variant == EntryRow.variant)
    traces = select(ComparedTraceRow.comparison_id).where(ComparedTraceRow.run_id.in_(select(runs.c.id)))
    return select(EntryRow.comparison_id).join(runs, same), traces


def _runs(name: str, condition: ColumnElement[bool]) -> CTE:
    return _once(select(RunRow.id, RunRow.trial_id, RunRow.variant).where(condition), name)


def _environments(device_name: str) -> Select[int]:
    return select(EnvironmentRow.id).where(EnvironmentRow.device_name == device_name)


def _named(text: str) -> Select[int]:
    return select(ComparisonRow.id).where(ComparisonRow.name.icontains(text, autoescape=True))


def _launching(kernels: CTE) -> Select[int]:
    """The runs that launch one of these kernels."""
    return select(KernelStatRow.run_id).where(among(KernelStatRow.kernel_id, select(kernels.c.id)))


def _kernels(name: str) -> CTE:
    return _once(select(KernelRow.id).where(mentions(KernelRow.name, name)), "kernels")


def _once(query: Select[*tuple[Any, ...]], name: str) -> CTE:
    """Answered once, whatever the planner thinks of asking it again."""
    return query.cte(name).prefix_with("MATERIALIZED")


def _with_status(status: str) -> CompoundSelect[int]:
    """The comparisons of jobs in this state, those of traces that are read so far, and as done runs that no job makes.

    Ids once more: the planner takes a status for so dear that beside it any other way of joining seems cheap.
    """
    jobs = _once(select(JobRow.id).where(job_status() == status), "jobs")
    traces = select(ComparisonRow.id).where(ComparisonRow.kind == ComparisonKind.TRACES, _reading_status() == status)
    selected = select(ComparisonRow.id).where(ComparisonRow.kind == ComparisonKind.RUNS, ComparisonRow.job_id.is_(None))
    return union(
        select(ComparisonRow.id).join(jobs, jobs.c.id == ComparisonRow.job_id),
        traces,
        *([selected] if status == JobStatus.DONE else []),
    )


@cache
def _reading_status() -> ColumnElement[str]:
    """Of the enclosing query's comparison of traces: running (some are read and some not), queued, failed (none could
    be read), else done. A run's trace is read already."""
    waiting, read = (
        _any(ImportedTraceRow.status == ImportStatus.QUEUED),
        _any(or_(ImportedTraceRow.status == ImportStatus.DONE, ComparedTraceRow.run_id.is_not(None))),
    )
    return case(
        (or_(_any(ImportedTraceRow.status == ImportStatus.RUNNING), and_(waiting, read)), JobStatus.RUNNING.value),
        (waiting, JobStatus.QUEUED.value),
        (read, JobStatus.DONE.value),
        else_=JobStatus.FAILED.value,
    )


def _any(condition: ColumnElement[bool]) -> ColumnElement[bool]:
    traces = select(ComparedTraceRow.position).outerjoin(
        ImportedTraceRow, ImportedTraceRow.id == ComparedTraceRow.imported_trace_id
    )
    return traces.where(ComparedTraceRow.comparison_id == ComparisonRow.id, condition).correlate(ComparisonRow).exists()
