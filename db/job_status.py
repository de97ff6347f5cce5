"""A job's status, derived from its trials. A trial that was tried again counts no more: its successor does.

Each condition is built once: to put one together takes SQLAlchemy longer than the database takes to answer it.
"""

from __future__ import annotations

from functools import cache

from sqlalchemy import ColumnElement, Select, case, exists, select
from sqlalchemy.orm import aliased

from db.models import JobRow, RunRow, TrialRow
from db.views import JobStatus, TrialStatus
from profiles.results import RunStatus

OPEN = (TrialStatus.QUEUED, TrialStatus.RUNNING)


@cache
def is_current() -> ColumnElement[bool]:
    """Whether no other trial tries this one again."""
    successor = aliased(TrialRow)
    return ~exists().where(successor.retry_of == TrialRow.id)


@cache
def job_status() -> ColumnElement[str]:
    """Of the enclosing query's job: queued (all queued), running (any open), cancelled (all cancelled), failed (all
    ended, no run succeeded), else done."""
    return case(
        (~_any(TrialRow.status != TrialStatus.QUEUED), JobStatus.QUEUED.value),
        (_any(TrialRow.status.in_(OPEN)), JobStatus.RUNNING.value),
        (~_any(TrialRow.status != TrialStatus.CANCELLED), JobStatus.CANCELLED.value),
        (_any_succeeded(), JobStatus.DONE.value),
        else_=JobStatus.FAILED.value,
    )


@cache
def is_open() -> ColumnElement[bool]:
    """Whether the enclosing query's job has a trial that is queued or running."""
    return _any(TrialRow.status.in_(OPEN))


def _any(condition: ColumnElement[bool]) -> ColumnElement[bool]:
    return _trials().where(condition).exists()


def _any_succeeded() -> ColumnElement[bool]:
    # an inner EXISTS, no join: SQLite would start the join from all runs that succeeded
    return _any(exists().where(RunRow.trial_id == TrialRow.id, RunRow.status == RunStatus.SUCCEEDED))


def _trials() -> Select[int]:
    return select(TrialRow.id).where(TrialRow.job_id == JobRow.id, is_current()).correlate(JobRow)
