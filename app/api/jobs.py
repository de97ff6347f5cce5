"""Jobs: submit, list, look, cancel, try again."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response

from app import context, submission
from app.api.params import Id, Limit, Offset
from app.api.wire import answer, body, schemas
from db import jobs
from db.views import JobView, Page
from profiles.job import JobRequest

router = APIRouter(prefix="/jobs", tags=["jobs"])


class State(StrEnum):
    OPEN = "open"
    ENDED = "ended"


@router.get("", responses=schemas.answers(Page[JobView]))
def list_jobs(state: State = State.OPEN, offset: Offset = 0, limit: Limit = 20) -> Response:
    """Open jobs in the order in which they are measured, or ended ones, latest first."""
    if state is State.ENDED:
        return answer(jobs.ended_jobs(context.database(), offset=offset, limit=limit))
    waiting = jobs.open_jobs(context.database())
    return answer(Page(items=waiting[offset : offset + limit], total=len(waiting)))


@router.post(
    "", responses=schemas.answers(JobView, status=201), openapi_extra=schemas.takes(JobRequest), status_code=201
)
def submit_job(request: Annotated[JobRequest, Depends(body(JobRequest))]) -> Response:
    """422 where the job could be measured nowhere."""
    return answer(submission.submit(request), status=201)


@router.get("/{job_id}", responses=schemas.answers(JobView))
def show_job(job_id: Id) -> Response:
    return answer(jobs.job(context.database(), job_id))


@router.post("/{job_id}/cancel", responses=schemas.answers(JobView))
def cancel_job(job_id: Id) -> Response:
    """What is measured stays. 409 where the job has ended."""
    return answer(jobs.cancel_job(context.database(), job_id))


@router.post("/{job_id}/retry", responses=schemas.answers(JobView))
def retry_job(job_id: Id) -> Response:
    """409 where nothing failed or was cancelled."""
    return answer(submission.retry(job_id))
