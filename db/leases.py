"""The reaper's half of the protocol: give away trials whose worker fell silent, and find those without a message.

Every worker may run it at the same time: each change is conditional, so each trial is given away once.
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from db.models import TrialRow
from db.ownership import MOST_ATTEMPTS, requeue, silent, waiting_too_long
from db.session import Database
from db.trials import end_trial
from db.views import TrialStatus
from profiles.results import Failure, FailureKind

LOST = Failure(
    kind=FailureKind.WORKER_LOST, message=f"its worker fell silent in each of {MOST_ATTEMPTS} attempts; not tried again"
)


def expire_leases(db: Database) -> tuple[tuple[int, str], ...]:
    """(trial, device class) of the trials that went back to the queue: to be published again.

    Runs that the lost attempt stored stay; the next attempt measures the other variants. A trial that somebody wanted
    cancelled is cancelled, and one out of attempts fails as `worker_lost`.
    """
    with db.begin() as session:
        return tuple((row.id, row.device) for row in silent(session, TrialRow) if _given_back(session, row))


def stale_queued(db: Database, *, older_than_s: float) -> tuple[tuple[int, str], ...]:
    """(trial, device class) of the queued trials that were last published `older_than_s` seconds ago or more.

    They are marked as published now: the caller publishes them, and no other reaper does.
    """
    with db.begin() as session:
        rows = waiting_too_long(session, TrialRow, older_than_s=older_than_s)
        return tuple((row.id, row.device) for row in rows)


def _given_back(session: Session, row: TrialRow) -> bool:
    if row.cancel_requested:
        end_trial(session, row, TrialStatus.CANCELLED)
        return False
    if not requeue(row):
        end_trial(session, row, TrialStatus.FAILED, LOST)
        return False
    return True
