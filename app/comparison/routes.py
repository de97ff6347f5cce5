"""Comparisons as files: JSON, CSV and bundles, by id, or (JSON and CSV) by a share token."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import msgspec
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from app.addresses import address, identity
from app.comparison.spreadsheet import comparison_csv
from app.comparison.visits_csv import visits_csv
from app.context import database, settings
from app.traces.exports import traces_csv, traces_json
from db.bundles import export_comparison
from db.comparisons import comparison
from db.errors import NotFound
from db.shares import look_up_link
from db.store import TraceStore
from db.views import ComparisonKind, ComparisonView
from profiles.bundle import BundleError
from profiles.comparison.document import document

PRIVATE = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex, nofollow"}
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def export_url(comparison_id: int, kind: str, **query: str) -> str:
    """Relative to a page at the root; `kind` is json, csv or fusescope."""
    return address(f"api/v1/comparisons/{comparison_id}/export.{kind}", **{k: v or None for k, v in query.items()})


def shared_url(token: str, kind: str) -> str:
    return f"api/v1/shared/{token}/comparison.{kind}"


def export(request: Request) -> Response:
    comparison_id = identity(request.path_params["comparison_id"])
    if comparison_id is None:
        return _nothing("there is no such comparison")
    try:
        found = comparison(database(), comparison_id)
    except NotFound as error:
        return _nothing(str(error))
    if request.path_params["kind"] == "fusescope" and found.kind is ComparisonKind.RUNS:
        return _bundle(found)
    return _file(found, request.path_params["kind"], request.query_params.get("base"), request.query_params.get("by"))


def shared(request: Request) -> Response:
    """404 alike for an unknown, a revoked and an expired link."""
    opened = look_up_link(database(), request.path_params["token"])
    if opened is None:
        return _nothing("this link does not exist or was revoked")
    answer = _file(opened.comparison, request.path_params["kind"])
    answer.headers.update(PRIVATE)
    return answer


def _file(view: ComparisonView, kind: str, base: str | None = None, by: str | None = None) -> Response:
    base, by = base or view.view.base, by or view.view.by
    if view.kind is ComparisonKind.TRACES:
        return _of_traces(view, kind, base)
    if kind == "csv":
        return _attached(comparison_csv(view.entries, base_key=base, by=by), "text/csv; charset=utf-8", view, kind)
    if kind == "visits.csv":
        return _attached(visits_csv(view.entries), "text/csv; charset=utf-8", view, kind)
    if kind == "json":
        told = document(view.entries, base_key=base, by=by, source=lambda _: str(view.id))
        return _attached(msgspec.json.encode(told), "application/json", view, kind)
    return _nothing(f"unknown kind {kind!r}; expected 'json', 'csv' or 'fusescope'")


def _of_traces(view: ComparisonView, kind: str, base: str | None) -> Response:
    if kind == "csv":
        return _attached(traces_csv(view.traces), "text/csv; charset=utf-8", view, kind)
    if kind == "json":
        return _attached(traces_json(view.traces, base_key=base), "application/json", view, kind)
    return _nothing(f"a comparison of traces has no {kind!r}; expected 'json' or 'csv'")


def _bundle(view: ComparisonView) -> Response:
    """Written to a file first: traces may be larger than memory should hold."""
    with tempfile.NamedTemporaryFile(prefix="fusescope-", suffix=".fusescope", delete=False) as file:
        path = Path(file.name)
    try:
        export_comparison(database(), TraceStore(settings().traces_url), view.id, path)
    except BundleError as error:
        path.unlink()
        return _nothing(str(error))
    return FileResponse(path, filename=_name(view, "fusescope"), background=BackgroundTask(path.unlink))


def _attached(body: str | bytes, media_type: str, view: ComparisonView, kind: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{_name(view, kind)}"'}
    return Response(body, media_type=media_type, headers=headers)


def _name(view: ComparisonView, kind: str) -> str:
    return f"{UNSAFE.sub('-', view.name).strip('-') or 'comparison'}-{view.id}.{kind}"


def _nothing(why: str) -> Response:
    return PlainTextResponse(f"{why}\n", status_code=404)


comparison_routes: list[BaseRoute] = [
    Route("/api/v1/comparisons/{comparison_id}/export.{kind}", export),
    Route("/api/v1/shared/{token}/comparison.{kind}", shared),
]
