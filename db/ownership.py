"""Fencing: whoever writes for a trial must still own it."""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, select
from sqlalchemy.orm import Session

from db.models import TrialRow
from db.views import TrialStatus


def owned(trial_id: int, *, worker: str, attempt: int) -> ColumnElement[bool]:
    """Whether the trial is running under this worker's attempt."""
    return and_(
        TrialRow.id == trial_id,
        TrialRow.status == TrialStatus.RUNNING,
        TrialRow.owner == worker,
        TrialRow.attempt == attempt,
    )


def owned_trial(session: Session, trial_id: int, *, worker: str, attempt: int) -> TrialRow | None:
    """The trial, locked until the transaction ends; None where it was given to another or has ended."""
    query = select(TrialRow).where(owned(trial_id, worker=worker, attempt=attempt)).with_for_update()
    return session.scalar(query)
