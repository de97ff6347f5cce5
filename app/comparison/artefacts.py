"""The text files that a run left (generated code), for people to read: by comparison, or by a share token."""

from __future__ import annotations

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from app.addresses import identity
from app.context import database, settings
from db.comparisons import comparison
from db.discretion import without_places
from db.errors import NotFound
from db.shares import look_up_link
from db.store import TraceStore
from db.views import ComparisonView

PLAIN = "text/plain; charset=utf-8"
SAFE = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox"}
"""Generated code is shown and never run, whatever a browser takes it for."""

OK = 200


def artefact_url(comparison_id: int, key: str, sha256: str, *, token: str | None = None) -> str:
    """Relative to a page at the root; `key` is the entry's letter. On a shared page the token stands for the id."""
    of = f"comparisons/{comparison_id}" if token is None else f"shared/{quote(token, safe='')}"
    return f"api/v1/{of}/entries/{quote(key, safe='')}/artefacts/{sha256}"


def artefact(request: Request) -> Response:
    comparison_id = identity(request.path_params["comparison_id"])
    if comparison_id is None:
        return _nothing()
    try:
        return _text(comparison(database(), comparison_id), request)
    except NotFound:
        return _nothing()


def shared_artefact(request: Request) -> Response:
    """404 alike for an unknown, a revoked and an expired link. Whose account compiled is nobody's business there."""
    opened = look_up_link(database(), request.path_params["token"])
    if opened is None:
        return _nothing()
    found = _text(opened.comparison, request)
    if found.status_code != OK:
        return found
    code = bytes(found.body).decode(errors="surrogateescape")
    return _shown(without_places(code).encode(errors="surrogateescape"))


def _text(view: ComparisonView, request: Request) -> Response:
    """The file, where the entry's run names it and the store holds it."""
    key, sha256 = request.path_params["key"], request.path_params["sha256"]
    run = next((entry.run for entry in view.entries if entry.key == key), None)
    if run is None or all(artefact.sha256 != sha256 for artefact in run.artefacts):
        return _nothing()
    try:
        return _shown(TraceStore(settings().traces_url).read_artefact(sha256))
    except NotFound:
        return _nothing()


def _shown(content: bytes) -> Response:
    return Response(content, media_type=PLAIN, headers=SAFE)


def _nothing() -> Response:
    return PlainTextResponse("there is no such file here\n", status_code=404)


artefact_routes: list[BaseRoute] = [
    Route("/api/v1/comparisons/{comparison_id}/entries/{key}/artefacts/{sha256}", artefact),
    Route("/api/v1/shared/{token}/entries/{key}/artefacts/{sha256}", shared_artefact),
]
