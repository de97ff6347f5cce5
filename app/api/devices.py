"""The catalogue, as the workers that answer can measure it, and those workers."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from app import context
from app.api.wire import answer, schemas
from app.commands.catalog import catalogue_for
from app.devices import alive
from db import workers
from db.views import WorkerView
from profiles.reports import Catalogue

router = APIRouter(tags=["devices"])


@router.get("/catalogue", responses=schemas.answers(Catalogue))
def show_catalogue() -> Response:
    """As `fusescope catalog --json`, for the workers instead of this machine."""
    known = workers.workers(context.database())
    return answer(catalogue_for([worker.capabilities for worker in alive(known)]))


@router.get("/workers", responses=schemas.answers(tuple[WorkerView, ...]))
def list_workers() -> Response:
    return answer(workers.workers(context.database()))
