"""A run as a Python script that needs torch alone: by comparison, or by a share token."""

from __future__ import annotations

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from app.addresses import identity
from app.context import database
from db.comparisons import comparison
from db.errors import NotFound
from db.shares import look_up_link
from db.views import ComparisonView
from profiles.reproduce.errors import ReproduceError
from profiles.reproduce.script import reproducer

PYTHON = "text/x-python; charset=utf-8"


def script_url(comparison_id: int, key: str, *, token: str | None = None) -> str:
    """Relative to a page at the root; `key` is the entry's letter. On a shared page the token stands for the id."""
    of = f"comparisons/{comparison_id}" if token is None else f"shared/{quote(token, safe='')}"
    return f"api/v1/{of}/runs/{quote(key, safe='')}/reproduce.py"


def script(request: Request) -> Response:
    comparison_id = identity(request.path_params["comparison_id"])
    if comparison_id is None:
        return _nothing("there is no such comparison")
    try:
        return _script(comparison(database(), comparison_id), request.path_params["key"])
    except NotFound as error:
        return _nothing(str(error))


def shared_script(request: Request) -> Response:
    """404 alike for an unknown, a revoked and an expired link."""
    opened = look_up_link(database(), request.path_params["token"])
    if opened is None:
        return _nothing("this link does not exist or was revoked")
    return _script(opened.comparison, request.path_params["key"])


def _script(view: ComparisonView, key: str) -> Response:
    entry = next((entry for entry in view.entries if entry.key == key), None)
    if entry is None:
        return _nothing(f"the comparison has no run {key!r}; it has {', '.join(e.key for e in view.entries)}")
    try:
        made = reproducer(entry)
    except ReproduceError as error:
        return _nothing(str(error))
    headers = {"Content-Disposition": f'attachment; filename="{made.filename}"'}
    return Response(made.text.encode(), media_type=PYTHON, headers=headers)


def _nothing(why: str) -> Response:
    return PlainTextResponse(f"{why}\n", status_code=404)


reproduce_routes: list[BaseRoute] = [
    Route("/api/v1/comparisons/{comparison_id}/runs/{key}/reproduce.py", script),
    Route("/api/v1/shared/{token}/runs/{key}/reproduce.py", shared_script),
]
