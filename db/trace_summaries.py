"""One line of History per comparison of traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.compared_traces import distinct_labels
from db.models import ComparedTraceRow, ComparisonRow, EnvironmentRow, ImportedTraceRow, RunRow, TraceRow
from db.views import ComparisonSummary, ImportStatus, JobStatus
from profiles.trace.summary import TraceSummary

SHOWN = 2


@dataclass(frozen=True, slots=True)
class _Trace:
    name: str
    status: ImportStatus
    device_names: tuple[str, ...]
    device: str | None


def trace_comparison_summaries(session: Session, rows: Sequence[ComparisonRow]) -> tuple[ComparisonSummary, ...]:
    """One query for all of them."""
    if not rows:
        return ()
    traces = _traces(session, [row.id for row in rows])
    return tuple(_summary(row, traces[row.id]) for row in rows)


def _traces(session: Session, ids: Sequence[int]) -> dict[int, list[_Trace]]:
    query = (
        select(
            ComparedTraceRow.comparison_id,
            ImportedTraceRow.name,
            ImportedTraceRow.status,
            RunRow.variant,
            EnvironmentRow.device_name,
            EnvironmentRow.device,
            TraceRow.summary,
        )
        .outerjoin(ImportedTraceRow, ImportedTraceRow.id == ComparedTraceRow.imported_trace_id)
        .outerjoin(RunRow, RunRow.id == ComparedTraceRow.run_id)
        .outerjoin(EnvironmentRow, EnvironmentRow.id == RunRow.environment_id)
        .outerjoin(TraceRow, TraceRow.id == ImportedTraceRow.trace_id)
        .where(ComparedTraceRow.comparison_id.in_(ids))
        .order_by(ComparedTraceRow.comparison_id, ComparedTraceRow.position)
    )
    found: dict[int, list[_Trace]] = {comparison_id: [] for comparison_id in ids}
    for comparison_id, name, status, variant, device_name, device, summary in session.execute(query):
        names = (device_name,) if device_name else _devices(summary)
        trace = _Trace(name or variant, status or ImportStatus.DONE, names, device or _kind(summary))
        found[comparison_id].append(trace)
    return found


def _summary(row: ComparisonRow, traces: list[_Trace]) -> ComparisonSummary:
    counts = Counter(trace.status for trace in traces)
    return ComparisonSummary(
        id=row.id,
        kind=row.kind,
        name=row.name,
        operation="",
        workload=_labels(traces),
        answer=row.answer,
        runs=len(traces),
        succeeded=counts[ImportStatus.DONE],
        incorrect=0,
        failed=counts[ImportStatus.FAILED],
        status=_status(counts),
        device_name=", ".join(_distinct(name for trace in traces for name in trace.device_names)) or None,
        device=", ".join(_distinct(trace.device for trace in traces)) or None,
        created_by=row.created_by,
        created_at=row.created_at,
    )


def _status(counts: Counter[ImportStatus]) -> JobStatus | None:
    """As a job's, while its files are read; None once they are, as of what no job makes."""
    if counts[ImportStatus.RUNNING] or (counts[ImportStatus.QUEUED] and counts[ImportStatus.DONE]):
        return JobStatus.RUNNING
    if counts[ImportStatus.QUEUED]:
        return JobStatus.QUEUED
    return JobStatus.FAILED if counts[ImportStatus.FAILED] == counts.total() else None


def _labels(traces: list[_Trace]) -> str:
    """The first ones, and how many others there are."""
    labels = distinct_labels([trace.name for trace in traces])
    others = f" and {len(labels) - SHOWN} more" if len(labels) > SHOWN else ""
    return f"{', '.join(labels[:SHOWN])}{others}"


def _devices(summary: TraceSummary | None) -> tuple[str, ...]:
    return tuple(device.name for device in summary.devices if device.name) if summary is not None else ()


def _kind(summary: TraceSummary | None) -> str | None:
    """A trace with neither an accelerator in it nor calls that launch on one is of a CPU."""
    if summary is None:
        return None
    if summary.devices:
        return "cuda"
    elsewhere = any(finding.code == "other_accelerator" for finding in summary.health)
    return None if summary.launches or summary.graph_launches or elsewhere else "cpu"


def _distinct(values: Iterable[str | None]) -> list[str]:
    """Each value once, in the order of first appearance."""
    return list(dict.fromkeys(value for value in values if value is not None))
