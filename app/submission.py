"""A job on its way: stored first, then announced to the workers. What is stored and not announced is found by them."""

from __future__ import annotations

from app import context
from db import jobs
from db.views import JobView
from profiles import presets
from profiles.job import JobError, JobRequest
from workers import dispatch


def submit(request: JobRequest, *, submitted_by: str | None = None) -> JobView:
    """JobError where the request can be measured nowhere, or names a preset that does not exist."""
    if request.preset is not None:
        _check_preset(request.preset)
    return _announced(jobs.submit_job(context.database(), request, submitted_by=submitted_by))


def retry(job_id: int) -> JobView:
    """IllegalMove where nothing failed or was cancelled."""
    return _announced(jobs.retry_job(context.database(), job_id))


def _check_preset(name: str) -> None:
    try:
        presets.preset(name)
    except presets.PresetError as error:
        raise JobError(str(error)) from error


def _announced(job: JobView) -> JobView:
    dispatch.publish_job(context.settings(), job)
    return job
