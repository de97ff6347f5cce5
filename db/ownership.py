"""The protocol of claims, the same for trials and for imported traces: take, beat, give back, and fencing.

Whoever writes for a row must still own it: an attempt whose lease ran out changes nothing. Each is one conditional
change, by the database's clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from sqlalchemy import ColumnElement, CursorResult, and_, select, update
from sqlalchemy.orm import Session

from db.clock import from_now, now
from db.models import ImportedTraceRow, TrialRow

LEASE_S = 20.0
MOST_ATTEMPTS = 2
QUEUED, RUNNING = "queued", "running"  # of both statuses

Claimed = TypeVar("Claimed", TrialRow, ImportedTraceRow)


@dataclass(frozen=True, slots=True)
class Beat:
    """Not `owned`: stop at once, the row is another's or has ended."""

    owned: bool
    cancel_requested: bool


def claim(
    session: Session, row: type[Claimed], row_id: int, *, worker: str, lease_s: float, **set_too: Any
) -> int | None:
    """Take a queued row; the attempt that this worker now owns, or None when there is nothing to take."""
    statement = (
        update(row)
        .where(row.id == row_id, row.status == QUEUED)
        .values(
            status=RUNNING,
            owner=worker,
            attempt=row.attempt + 1,
            lease_until=from_now(lease_s),
            started_at=now(),
            **set_too,
        )
        .returning(row.attempt)
    )
    return session.scalar(statement)


def owned(row: type[Claimed], row_id: int, *, worker: str, attempt: int) -> ColumnElement[bool]:
    """Whether the row is running under this worker's attempt."""
    return and_(row.id == row_id, row.status == RUNNING, row.owner == worker, row.attempt == attempt)


def owned_row(session: Session, row: type[Claimed], row_id: int, *, worker: str, attempt: int) -> Claimed | None:
    """The row, locked until the transaction ends; None where it was given to another or has ended."""
    query = select(row).where(owned(row, row_id, worker=worker, attempt=attempt)).with_for_update()
    return session.scalar(query)


def hand_back(session: Session, row: type[Claimed], row_id: int, *, worker: str, attempt: int) -> bool:
    """End the lease now, and do not count the attempt, because nothing went wrong. False where it is no longer this
    attempt's. The reaper sends the row again."""
    statement = (
        update(row)
        .where(owned(row, row_id, worker=worker, attempt=attempt))
        .values(lease_until=from_now(-1.0), attempt=row.attempt - 1)
    )
    return cast("CursorResult[Any]", session.execute(statement)).rowcount == 1


def silent(session: Session, row: type[Claimed]) -> Sequence[Claimed]:
    """The rows whose lease ran out, locked; those that another reaper holds are left to it."""
    query = select(row).where(row.status == RUNNING, row.lease_until < now()).with_for_update(skip_locked=True)
    return session.scalars(query).all()


def requeue(row: TrialRow | ImportedTraceRow) -> bool:
    """Put a locked row that is running back into the queue; False where it is out of attempts."""
    if row.attempt >= MOST_ATTEMPTS:
        return False
    row.status = type(row.status)(QUEUED)
    row.owner, row.lease_until = None, None
    row.published_at = now()
    return True


def waiting_too_long(session: Session, row: type[Claimed], *, older_than_s: float) -> Sequence[Claimed]:
    """The queued rows that were last published `older_than_s` seconds ago or more, now marked as published: the caller
    publishes them, and no other reaper does."""
    mark = (
        update(row)
        .where(row.status == QUEUED, row.published_at < from_now(-older_than_s))
        .values(published_at=now())
        .returning(row)
    )
    return session.scalars(mark).all()
