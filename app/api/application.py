"""The FastAPI application that is mounted at /api/v1: routers, refusals in one form, the OpenAPI document."""

from __future__ import annotations

from typing import Any

from fastapi import Depends, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.api import comparisons, devices, jobs, traces
from app.api.origin import SameOrigin
from app.api.wire import RequestError, problem, schemas
from db.errors import DatabaseError, IllegalMove, NotFound
from profiles.job import JobError

STATUSES: dict[type[Exception], int] = {NotFound: 404, IllegalMove: 409, JobError: 422, DatabaseError: 503}


def make_api() -> FastAPI:
    api = FastAPI(title="Fusescope", version="1", docs_url=None, redoc_url=None, dependencies=[Depends(_check_query)])
    for part in (jobs, comparisons, traces, devices):
        api.include_router(part.router)
    api.add_middleware(SameOrigin)
    api.add_exception_handler(RequestError, _unreadable)
    api.add_exception_handler(RequestValidationError, _invalid)
    api.add_exception_handler(HTTPException, _refused)
    for error, status in STATUSES.items():
        api.add_exception_handler(error, _says(status))
    api.openapi = lambda: _document(api)  # type: ignore[method-assign]  # FastAPI's documented way to extend it
    return api


def _document(api: FastAPI) -> dict[str, Any]:
    if api.openapi_schema is None:
        document = get_openapi(title=api.title, version=api.version, routes=api.routes)
        document.setdefault("components", {}).setdefault("schemas", {}).update(schemas.components())
        api.openapi_schema = document
    return api.openapi_schema


def _check_query(request: Request) -> None:
    """RequestError for a parameter that the document does not name: what a person misspells would else be passed over,
    and a list come without its filter. And for U+0000, with which PostgreSQL compares no text."""
    if not request.query_params:
        return
    described = request.app.openapi()["paths"][request.scope["route"].path_format][request.method.lower()]
    known = [each["name"] for each in described.get("parameters", ()) if each["in"] == "query"]
    for name, value in request.query_params.multi_items():
        if "\0" in value:
            raise RequestError(422, f"query parameter {name[:40]!r} has a character U+0000")
        if name not in known:
            accepted = f"expected {', '.join(map(repr, known))}" if known else "there are none here"
            raise RequestError(422, f"unknown query parameter {name[:40]!r}; {accepted}")


def _says(status: int) -> Any:
    def handler(_request: Request, error: Exception) -> Response:
        return problem(status, str(error))

    return handler


def _unreadable(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    return problem(error.status, str(error))


def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return problem(error.status_code, str(error.detail))


def _invalid(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = " ".join(str(part) for part in first["loc"])
    return problem(422, f"{where}: {first['msg']}")
