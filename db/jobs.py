"""Jobs: submitted with their trials and their comparison in one transaction, listed, cancelled, tried again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from statistics import median

import msgspec
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from db.comparison_rows import add_entries
from db.errors import IllegalMove, NotFound
from db.job_status import OPEN, is_current, is_open, job_status
from db.models import ComparisonRow, JobRow, TrialRow
from db.retries import retry_trials
from db.session import Database
from db.trial_views import trial_views
from db.trials import end_trial
from db.views import JobStatus, JobView, Page, TrialStatus, TrialView
from profiles.job import JobRequest, TrialRequest, check_job

RECENT = 10


def submit_job(db: Database, request: JobRequest, *, submitted_by: str | None = None) -> JobView:
    """Store a job, its trials and the comparison that they will fill. JobError where it could be measured nowhere."""
    check_job(request)
    with db.begin() as session:
        row = JobRow(request=request, submitted_by=submitted_by)
        session.add(row)
        session.flush()
        trials = [_trial(row.id, position, request) for position in range(len(request.trials))]
        comparison = ComparisonRow(job_id=row.id, name=request.name, created_by=submitted_by)
        session.add_all([*trials, comparison])
        session.flush()
        add_entries(session, comparison.id, [(trial.id, variant) for trial in trials for variant in trial.variants])
        return _find(session, row.id)


def job(db: Database, job_id: int) -> JobView:
    """NotFound where there is none."""
    with db.read() as session:
        return _find(session, job_id)


def open_jobs(db: Database) -> tuple[JobView, ...]:
    """Those with a queued or running trial, oldest first: the order in which they are measured."""
    with db.read() as session:
        return _jobs(session, where=is_open(), order=JobRow.id.asc())


def ended_jobs(db: Database, *, offset: int = 0, limit: int = 20) -> Page[JobView]:
    """Latest first."""
    with db.read() as session:
        total = session.scalar(select(func.count()).select_from(JobRow).where(~is_open()))
        items = _jobs(session, where=~is_open(), order=JobRow.id.desc(), offset=offset, limit=limit)
        return Page(items=items, total=total or 0)


def cancel_job(db: Database, job_id: int) -> JobView:
    """Queued trials are cancelled at once; running ones are asked to stop, which their workers hear within a beat."""
    with db.begin() as session:
        trials = _current(session, job_id, TrialRow.status.in_(OPEN))
        if not trials:
            raise IllegalMove(f"job {job_id} has ended; only open jobs can be cancelled")
        for trial in trials:
            trial.cancel_requested = True
            if trial.status is TrialStatus.QUEUED:
                end_trial(session, trial, TrialStatus.CANCELLED)
        session.flush()
        return _find(session, job_id)


def retry_job(db: Database, job_id: int) -> JobView:
    """Measure again, each in a new trial of the same job, what failed, was cancelled or has a failed run.

    The whole trial is measured again, because variants are compared within one process and time; its entries in the
    job's comparison now wait for the new runs, the old runs stay in the list of all runs.
    """
    with db.begin() as session:
        retried = retry_trials(session, _current(session, job_id, ~TrialRow.status.in_(OPEN)))
        if not retried:
            raise IllegalMove(f"nothing in job {job_id} failed or was cancelled")
        return _find(session, job_id)


def expected_seconds(db: Database, request: JobRequest) -> float | None:
    """How long a worker will take, by the median of the latest trials of the same shape; None where one is new."""
    with db.read() as session:
        times = [_typical_s(session, shape(trial, request)) for trial in request.trials]
    known = [time for time in times if time is not None]
    return sum(known) if len(known) == len(times) else None


def shape(trial: TrialRequest, request: JobRequest) -> str:
    """A digest of what a trial's duration depends on; equal for every device of a kind."""
    axes, kind = trial.workload.axes, request.device.partition(":")[0]
    known = (trial.workload.operation, axes, trial.workload.dtype, sorted(trial.variants), request.plan, kind)
    return hashlib.sha256(msgspec.json.encode(known, order="sorted")).hexdigest()


def _trial(job_id: int, position: int, request: JobRequest) -> TrialRow:
    trial = request.trials[position]
    return TrialRow(
        job_id=job_id,
        position=position,
        operation=trial.workload.operation,
        workload=trial.workload,
        variants=trial.variants,
        plan=request.plan,
        preset=request.preset,
        device=request.device,
        shape=shape(trial, request),
    )


def _find(session: Session, job_id: int) -> JobView:
    found = _jobs(session, where=JobRow.id == job_id, order=JobRow.id.asc())
    if not found:
        raise NotFound(f"there is no job {job_id}")
    return found[0]


def _current(session: Session, job_id: int, condition: ColumnElement[bool]) -> Sequence[TrialRow]:
    """The job's trials that meet the condition, in their order, locked; the job first, so that two calls take turns."""
    if session.scalar(select(JobRow.id).where(JobRow.id == job_id).with_for_update()) is None:
        raise NotFound(f"there is no job {job_id}")
    query = select(TrialRow).where(TrialRow.job_id == job_id, is_current(), condition).order_by(TrialRow.position)
    return session.scalars(query.with_for_update()).all()


def _jobs(
    session: Session,
    *,
    where: ColumnElement[bool],
    order: ColumnElement[int],
    offset: int = 0,
    limit: int | None = None,
) -> tuple[JobView, ...]:
    query = (
        select(JobRow, job_status(), ComparisonRow.id)
        .join(ComparisonRow, ComparisonRow.job_id == JobRow.id)
        .where(where)
        .order_by(order)
        .offset(offset)
        .limit(limit)
    )
    rows = session.execute(query).all()
    trials = _trials(session, [row.id for row, _, _ in rows])
    return tuple(
        JobView(
            id=row.id,
            request=row.request,
            status=JobStatus(status),
            submitted_by=row.submitted_by,
            submitted_at=row.submitted_at,
            trials=trials[row.id],
            comparison_id=comparison_id,
        )
        for row, status, comparison_id in rows
    )


def _trials(session: Session, job_ids: list[int]) -> dict[int, tuple[TrialView, ...]]:
    query = select(TrialRow).where(TrialRow.job_id.in_(job_ids), is_current()).order_by(TrialRow.position)
    views = trial_views(session, session.scalars(query).all())
    return {job_id: tuple(view for view in views if view.job_id == job_id) for job_id in job_ids}


def _typical_s(session: Session, digest: str) -> float | None:
    query = (
        select(TrialRow.started_at, TrialRow.ended_at)
        .where(TrialRow.shape == digest, TrialRow.status == TrialStatus.DONE)
        .order_by(TrialRow.ended_at.desc())
        .limit(RECENT)
    )
    times = [(ended - started).total_seconds() for started, ended in session.execute(query) if started and ended]
    return median(times) if times else None
