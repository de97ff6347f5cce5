"""The route that feeds the canvas. A share token opens the runs of its own comparison and no others."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from app.addresses import identity
from app.context import database
from app.timeline.encode import encode
from db.errors import NotFound
from db.shares import look_up_link
from db.traces import load_timeline

BINARY = "application/octet-stream"
KEPT = {"Cache-Control": "private, max-age=600"}


def url(run_id: int, *, token: str | None = None) -> str:
    """Relative to a page at the root."""
    suffix = "" if token is None else f"?token={token}"
    return f"api/v1/runs/{run_id}/timeline{suffix}"


def timeline(request: Request) -> Response:
    """404 alike for what does not exist, what has no timeline and what the token does not open."""
    run_id, token = identity(request.path_params["run_id"]), request.query_params.get("token")
    if run_id is None or (token is not None and not _opens(token, run_id)):
        return _nothing()
    try:
        found = load_timeline(database(), run_id)
    except NotFound:
        return _nothing()
    return _nothing() if found is None else Response(encode(found), media_type=BINARY, headers=KEPT)


def _opens(token: str, run_id: int) -> bool:
    shared = look_up_link(database(), token)
    return shared is not None and any(entry.run_id == run_id for entry in shared.comparison.entries)


def _nothing() -> Response:
    return PlainTextResponse("there is no timeline of this run here\n", status_code=404)


timeline_routes: list[BaseRoute] = [Route("/api/v1/runs/{run_id}/timeline", timeline)]
