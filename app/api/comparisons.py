"""Comparisons and runs: list with History's filters, look, put runs side by side, rename."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from app import context
from app.addresses import MOST_ID
from app.api.params import Id, Limit, Offset
from app.api.wire import answer, body, schemas
from db import comparisons, history, runs
from db.views import ComparisonSummary, ComparisonView, HistoryFilter, Page, RunSummary
from profiles.results import Run

router = APIRouter(tags=["comparisons"])

RunId = Annotated[int, msgspec.Meta(ge=1, le=MOST_ID)]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Text = Annotated[str | None, Query(max_length=200)]


class NewComparison(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The runs in the order of their letters."""

    run_ids: Annotated[tuple[RunId, ...], msgspec.Meta(min_length=1, max_length=256)]
    name: Name


class NewName(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Name


def _filter(
    search: Text = None,
    operation: Text = None,
    device_name: Text = None,
    status: Text = None,
    since: datetime | None = None,
) -> HistoryFilter:
    aware = since.replace(tzinfo=UTC) if since is not None and since.tzinfo is None else since
    return HistoryFilter(search=search, operation=operation, device_name=device_name, status=status, since=aware)


Wanted = Annotated[HistoryFilter, Depends(_filter)]


@router.get("/comparisons", responses=schemas.answers(Page[ComparisonSummary]))
def list_comparisons(wanted: Wanted, offset: Offset = 0, limit: Limit = 20) -> Response:
    return answer(history.comparisons(context.database(), wanted, offset=offset, limit=limit))


@router.post(
    "/comparisons",
    responses=schemas.answers(ComparisonView, status=201),
    openapi_extra=schemas.takes(NewComparison),
    status_code=201,
)
def create_comparison(wanted: Annotated[NewComparison, Depends(body(NewComparison))]) -> Response:
    database = context.database()
    made = comparisons.create_comparison(database, wanted.run_ids, name=wanted.name)
    return answer(comparisons.comparison(database, made), status=201)


@router.get("/comparisons/{comparison_id}", responses=schemas.answers(ComparisonView))
def show_comparison(comparison_id: Id) -> Response:
    return answer(comparisons.comparison(context.database(), comparison_id))


@router.patch(
    "/comparisons/{comparison_id}", responses=schemas.answers(ComparisonView), openapi_extra=schemas.takes(NewName)
)
def rename_comparison(comparison_id: Id, wanted: Annotated[NewName, Depends(body(NewName))]) -> Response:
    database = context.database()
    comparisons.rename_comparison(database, comparison_id, wanted.name)
    return answer(comparisons.comparison(database, comparison_id))


@router.get("/runs", responses=schemas.answers(Page[RunSummary]))
def list_runs(wanted: Wanted, offset: Offset = 0, limit: Limit = 20) -> Response:
    return answer(history.runs(context.database(), wanted, offset=offset, limit=limit))


@router.get("/runs/{run_id}", responses=schemas.answers(Run))
def show_run(run_id: Id) -> Response:
    """The whole record of one run, samples included."""
    return answer(runs.run(context.database(), run_id))
