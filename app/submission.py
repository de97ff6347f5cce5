"""A job on its way: stored first, then announced to the workers. What is stored and not announced is found by them."""

from __future__ import annotations

from app import context
from db import jobs
from db.views import JobView
from profiles.job import JobRequest
from workers import dispatch


def submit(request: JobRequest, *, submitted_by: str | None = None) -> JobView:
    """JobError where the request can be measured nowhere."""
    return _announced(jobs.submit_job(context.database(), request, submitted_by=submitted_by))


def retry(job_id: int) -> JobView:
    """IllegalMove where nothing failed or was cancelled."""
    return _announced(jobs.retry_job(context.database(), job_id))


def _announced(job: JobView) -> JobView:
    dispatch.publish_job(context.settings(), job)
    return job
