"""The reaper's half of the protocol: give away trials whose worker fell silent, and find those without a message.

Every worker may run it at the same time: each change is conditional, so each trial is given away once.
"""

from __future__ import annotations

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from db.clock import from_now, now
from db.models import TrialRow
from db.session import Database
from db.trials import end_trial
from db.views import TrialStatus
from profiles.results import Failure, FailureKind

MOST_ATTEMPTS = 2
LOST = Failure(
    kind=FailureKind.WORKER_LOST, message=f"its worker fell silent in each of {MOST_ATTEMPTS} attempts; not tried again"
)


def expire_leases(db: Database) -> tuple[tuple[int, str], ...]:
    """(trial, device class) of the trials that went back to the queue: to be published again.

    Runs that the lost attempt stored stay; the next attempt measures the other variants. A trial that somebody wanted
    cancelled is cancelled, and one out of attempts fails as `worker_lost`.
    """
    query = (
        select(TrialRow)
        .where(TrialRow.status == TrialStatus.RUNNING, TrialRow.lease_until < now())
        .with_for_update(skip_locked=True)
    )
    with db.begin() as session:
        return tuple((row.id, row.device) for row in session.scalars(query).all() if _given_back(session, row))


def stale_queued(db: Database, *, older_than_s: float) -> tuple[tuple[int, str], ...]:
    """(trial, device class) of the queued trials that were last published `older_than_s` seconds ago or more.

    They are marked as published now: the caller publishes them, and no other reaper does.
    """
    mark = (
        update(TrialRow)
        .where(TrialRow.status == TrialStatus.QUEUED, TrialRow.published_at < from_now(-older_than_s))
        .values(published_at=now())
        .returning(TrialRow.id, TrialRow.device)
    )
    with db.begin() as session:
        return tuple((trial_id, device) for trial_id, device in session.execute(mark))


def _given_back(session: Session, row: TrialRow) -> bool:
    if row.cancel_requested:
        end_trial(session, row, TrialStatus.CANCELLED)
        return False
    if row.attempt >= MOST_ATTEMPTS:
        end_trial(session, row, TrialStatus.FAILED, LOST)
        return False
    row.status, row.owner, row.lease_until = TrialStatus.QUEUED, None, None
    row.published_at = now()
    return True
