"""Trials as their readers see them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.models import RunRow, TrialRow
from db.records import VariantSteps
from db.run_rows import failure_of, load_briefs
from db.views import TrialView, VariantProgress
from profiles.results import Run


def trial_view(session: Session, row: TrialRow) -> TrialView:
    return trial_views(session, [row])[0]


def trial_views(session: Session, rows: Sequence[TrialRow]) -> tuple[TrialView, ...]:
    """In the order of `rows`, which belong to jobs; four queries for all of them."""
    runs = _runs(session, [row.id for row in rows])
    return tuple(_view(row, runs.get(row.id, {})) for row in rows)


def _runs(session: Session, trial_ids: Sequence[int]) -> dict[int, dict[str, Run]]:
    """By trial and variant."""
    query = select(RunRow.id, RunRow.trial_id).where(RunRow.trial_id.in_(trial_ids))
    trial_of = dict(session.execute(query).all())
    found: dict[int, dict[str, Run]] = {}
    for run_id, run in load_briefs(session, trial_of.keys()).items():
        found.setdefault(trial_of[run_id], {})[run.variant] = run
    return found


def _view(row: TrialRow, runs: dict[str, Run]) -> TrialView:
    assert row.job_id is not None
    return TrialView(
        id=row.id,
        job_id=row.job_id,
        workload=row.workload,
        variants=row.variants,
        status=row.status,
        attempt=row.attempt,
        retry_of=row.retry_of,
        owner=row.owner,
        failure=failure_of(row),
        cancel_requested=row.cancel_requested,
        queued_at=row.queued_at,
        started_at=row.started_at,
        ended_at=row.ended_at,
        progress=tuple(_progress(row.variants, row.steps, runs)),
    )


def _progress(
    variants: Iterable[str], steps: Iterable[VariantSteps], runs: dict[str, Run]
) -> Iterable[VariantProgress]:
    reached = {step.variant: step for step in steps}
    for variant in variants:
        step, run = reached.get(variant, VariantSteps(variant=variant)), runs.get(variant)
        yield VariantProgress(
            variant=variant,
            passed=step.passed,
            current=None if run is not None else step.current,
            so_far=step.so_far,
            run=run,
        )
