"""Trying again: a new trial that names the old one and takes its place in the job's comparison."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import exists, select, update
from sqlalchemy.orm import Session

from db.comparisons import renew_answers
from db.models import ComparisonRow, EntryRow, RunRow, TrialRow
from db.views import TrialStatus
from profiles.results import RunStatus


def retry_trials(session: Session, trials: Iterable[TrialRow]) -> list[TrialRow]:
    """The new trials; `trials` have ended, are locked and were not tried again yet."""
    return [_retry(session, trial) for trial in trials if _is_worth_retrying(session, trial)]


def _is_worth_retrying(session: Session, trial: TrialRow) -> bool:
    if trial.status in (TrialStatus.FAILED, TrialStatus.CANCELLED):
        return True
    failed = exists().where(RunRow.trial_id == trial.id, RunRow.status.in_((RunStatus.FAILED, RunStatus.CANCELLED)))
    return bool(session.scalar(select(failed)))


def _retry(session: Session, old: TrialRow) -> TrialRow:
    new = TrialRow(
        job_id=old.job_id,
        position=old.position,
        operation=old.operation,
        workload=old.workload,
        variants=old.variants,
        plan=old.plan,
        preset=old.preset,
        device=old.device,
        shape=old.shape,
        retry_of=old.id,
    )
    session.add(new)
    session.flush()
    comparison = select(ComparisonRow.id).where(ComparisonRow.job_id == old.job_id).scalar_subquery()
    move = update(EntryRow).where(EntryRow.trial_id == old.id, EntryRow.comparison_id == comparison)
    session.execute(move.values(trial_id=new.id))
    renew_answers(session, new.id)
    return new
