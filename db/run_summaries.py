"""One line per run in the list of all runs."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.orm import Session

from db.models import EntryRow, EnvironmentRow, MetricRow, RunRow, TrialRow
from db.run_rows import failure_of
from db.views import RunSummary
from profiles.comparison.figures import workload_label
from profiles.comparison.recording import count_doubt


def run_summaries(session: Session, ids: Sequence[int]) -> tuple[RunSummary, ...]:
    """In the order of `ids`; one query for all of them."""
    query = (
        select(RunRow, TrialRow, EnvironmentRow.record, _value("gpu_time"), _value("call_time"), _comparison())
        .join(TrialRow, TrialRow.id == RunRow.trial_id)
        .outerjoin(EnvironmentRow, EnvironmentRow.id == RunRow.environment_id)
        .where(RunRow.id.in_(ids))
    )
    found = {
        run.id: RunSummary(
            id=run.id,
            variant=run.variant,
            operation=trial.operation,
            workload=workload_label(trial.workload),
            status=run.status.value,
            failure=failure_of(run),
            gpu_time_ns=gpu_time_ns,
            call_time_ns=call_time_ns,
            kernels=run.record.counts.kernels if run.record.counts is not None else None,
            kernels_doubt=count_doubt(run.record, "kernels"),
            device_name=environment.device_name if environment is not None else None,
            torch=environment.torch if environment is not None else None,
            measured_at=run.measured_at,
            comparison_id=comparison_id,
        )
        for run, trial, environment, gpu_time_ns, call_time_ns, comparison_id in session.execute(query)
    }
    return tuple(found[run_id] for run_id in ids)


def _value(metric: str) -> ColumnElement[float | None]:
    return (
        select(MetricRow.value)
        .where(MetricRow.run_id == RunRow.id, MetricRow.name == metric)
        .order_by(MetricRow.position)
        .limit(1)
        .scalar_subquery()
    )


def _comparison() -> ColumnElement[int | None]:
    """The first that shows the run."""
    same = and_(EntryRow.trial_id == RunRow.trial_id, EntryRow.variant == RunRow.variant)
    return select(func.min(EntryRow.comparison_id)).where(same).scalar_subquery()
