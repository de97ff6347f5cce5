"""The routes that feed the canvas. A share token opens the runs of its own comparison and no others."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import msgspec
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from app.addresses import address, identity
from app.context import database
from app.timeline.chrome import chrome_json
from app.timeline.encode import WIDEST, Window, encode
from app.timeline.ranges import inside, summarise
from app.timeline.shown import Part, Shown, show
from app.timeline.slices_csv import slices_csv
from db.errors import NotFound
from db.session import Database
from db.shares import look_up_link
from db.traces import load_timeline, trace_of_run

BINARY = "application/octet-stream"
KEPT = {"Cache-Control": "private, max-age=600"}
TIMELINES_KEPT = 4  # each takes some 30 bytes per slice
LONGEST_QUERY = 200
FARTHEST_NS = 1 << 60

Answer = Callable[[Request], Response]


class BadQueryError(ValueError):
    """A parameter of the address makes no sense; the message says which and what is accepted."""


def url(run_id: int, *, token: str | None = None) -> str:
    """Relative to a page at the root. Its siblings end in `/range`, `/slices.csv` and `/chrome.json`."""
    return address(f"api/v1/runs/{run_id}/timeline", token=token)


def timeline(request: Request) -> Response:
    """All slices, or merged ones where there are too many; with `from`, `to` and `width`, merged for that picture."""
    shown = _shown(request)
    if shown is None:
        return _nothing()
    query = request.query_params.get("q", "")[:LONGEST_QUERY]
    return Response(encode(shown, _window(request), query=query), media_type=BINARY, headers=KEPT)


def in_range(request: Request) -> Response:
    shown = _shown(request)
    if shown is None:
        return _nothing()
    found = summarise(shown, *_range(request))
    return Response(msgspec.json.encode(found), media_type="application/json", headers=KEPT)


def slices(request: Request) -> Response:
    """Of the range; of all that is shown without one."""
    shown = _shown(request)
    if shown is None:
        return _nothing()
    whole = "from" not in request.query_params
    rows = inside(shown, -FARTHEST_NS, FARTHEST_NS) if whole else inside(shown, *_range(request))
    return _attached(StreamingResponse(slices_csv(shown, rows), media_type="text/csv; charset=utf-8"), request, "csv")


def chrome(request: Request) -> Response:
    shown = _shown(request)
    if shown is None:
        return _nothing()
    return _attached(StreamingResponse(chrome_json(shown.timeline), media_type="application/json"), request, "json")


def _shown(request: Request) -> Shown | None:
    """None alike for what does not exist, what has no timeline and what the token does not open."""
    run_id, token = identity(request.path_params["run_id"]), request.query_params.get("token")
    if run_id is None or (token is not None and not _opens(token, run_id)):
        return None
    part = request.query_params.get("part", Part.TYPICAL)
    if part not in tuple(Part):
        raise BadQueryError(f"part is {part!r}; expected one of {', '.join(map(repr, map(str, Part)))}")
    try:
        trace = trace_of_run(database(), run_id)
    except NotFound:
        return None
    return None if trace is None else _loaded(database(), run_id, trace, Part(part))


@lru_cache(maxsize=TIMELINES_KEPT)
def _loaded(db: Database, run_id: int, trace: str, part: Part) -> Shown:
    """Kept by the trace's hash: what a run shows may change, a trace never does."""
    found = load_timeline(db, run_id)
    assert found is not None, f"trace {trace} has no timeline"
    return show(found, part)


def _opens(token: str, run_id: int) -> bool:
    shared = look_up_link(database(), token)
    return shared is not None and any(entry.run_id == run_id for entry in shared.comparison.entries)


def _window(request: Request) -> Window | None:
    if "width" not in request.query_params:
        return None
    return Window(*_range(request), width=_number(request, "width", least=1, most=WIDEST))


def _range(request: Request) -> tuple[int, int]:
    first, last = (_number(request, name, least=-FARTHEST_NS, most=FARTHEST_NS) for name in ("from", "to"))
    if last <= first:
        raise BadQueryError(f"to is {last}; expected more than from, which is {first}")
    return first, last


def _number(request: Request, name: str, *, least: int, most: int) -> int:
    text = request.query_params.get(name, "")
    try:
        number = int(text) if len(text) < 20 else most + 1
    except ValueError:
        number = most + 1
    if not least <= number <= most:
        raise BadQueryError(f"{name} is {text[:40]!r}; expected an integer from {least} to {most}")
    return number


def _attached(answer: Response, request: Request, kind: str) -> Response:
    name = f"fusescope-run-{int(request.path_params['run_id'])}.{kind}"
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def _nothing() -> Response:
    return PlainTextResponse("there is no timeline of this run here\n", status_code=404)


def _guarded(answer: Answer) -> Answer:
    def guarded(request: Request) -> Response:
        try:
            return answer(request)
        except BadQueryError as error:
            return PlainTextResponse(f"{error}\n", status_code=400)

    return guarded


PATH = "/api/v1/runs/{run_id}/timeline"
timeline_routes: list[BaseRoute] = [
    Route(PATH, _guarded(timeline)),
    Route(f"{PATH}/range", _guarded(in_range)),
    Route(f"{PATH}/slices.csv", _guarded(slices)),
    Route(f"{PATH}/chrome.json", _guarded(chrome)),
]
