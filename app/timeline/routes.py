"""The routes that feed the canvas, alike for runs and for traces."""

from __future__ import annotations

import secrets
from collections.abc import Callable

import msgspec
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from app.context import database
from app.timeline.chrome import chrome_json
from app.timeline.doubts import doubts
from app.timeline.encode import WIDEST, Window, encode
from app.timeline.opened import Opened, Opener, doubts_of, health, load, open_run, open_trace
from app.timeline.ranges import inside, summarise
from app.timeline.shown import Part, Shown
from app.timeline.slices_csv import slices_csv
from app.timeline.whole import pack, packed_whole

BINARY = "application/octet-stream"
STARTED = secrets.token_hex(4)  # another version of us may answer otherwise
LONGEST_QUERY = 200
FARTHEST_NS = 1 << 60

Answer = Callable[[Request, Opened], Response]


class BadQueryError(ValueError):
    """A parameter of the address makes no sense; the message says which and what is accepted."""


def timeline(request: Request, opened: Opened) -> Response:
    """All slices, or merged ones where there are too many; with `from`, `to` and `width`, merged for that picture."""
    part, window = _part(request), _window(request)
    query = request.query_params.get("q", "")[:LONGEST_QUERY]
    packs = "gzip" in request.headers.get("Accept-Encoding", "")
    if packs and window is None and not query:
        packed = packed_whole(database(), opened.trace, part, "token" in request.query_params)
        return _columns(packed, opened, packed=True)
    shown = _shown(request, opened)
    columns = encode(shown, window, query=query, doubts=doubts_of(database(), opened.trace, shown))
    return _columns(pack(columns) if packs else columns, opened, packed=packs)


def in_range(request: Request, opened: Opened) -> Response:
    shown = _shown(request, opened)
    found = summarise(shown, *_range(request), doubts=doubts_of(database(), opened.trace, shown))
    return Response(msgspec.json.encode(found), media_type="application/json", headers=_kept(opened))


def slices(request: Request, opened: Opened) -> Response:
    """Of the range; of all that is shown without one."""
    shown = _shown(request, opened)
    whole = "from" not in request.query_params
    rows = inside(shown, -FARTHEST_NS, FARTHEST_NS) if whole else inside(shown, *_range(request))
    lines = slices_csv(shown, rows, doubts_of(database(), opened.trace, shown))
    return _attached(StreamingResponse(lines, media_type="text/csv; charset=utf-8"), opened, "csv")


def chrome(request: Request, opened: Opened) -> Response:
    """Of the whole recording, whatever part is shown."""
    whole = doubts(health(database(), opened.trace), of_step=False)
    events = chrome_json(_shown(request, opened).timeline, whole)
    return _attached(StreamingResponse(events, media_type="application/json"), opened, "json")


def _shown(request: Request, opened: Opened) -> Shown:
    return load(database(), opened.trace, _part(request), shared="token" in request.query_params)


def _part(request: Request) -> Part:
    part = request.query_params.get("part", Part.TYPICAL)
    if part not in tuple(Part):
        raise BadQueryError(f"part is {part!r}; expected one of {', '.join(map(repr, map(str, Part)))}")
    return Part(part)


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


def _columns(body: bytes, opened: Opened, *, packed: bool) -> Response:
    encoding = {"Content-Encoding": "gzip"} if packed else {}
    return Response(body, media_type=BINARY, headers={**_kept(opened), "Vary": "Accept-Encoding", **encoding})


def _kept(opened: Opened) -> dict[str, str]:
    """A browser may keep it, and asks each time whether it still may: a trace may be deleted, a link be revoked."""
    return {"Cache-Control": "private, no-cache", "ETag": f'W/"{opened.trace.sha256}-{STARTED}"'}


def _attached(answer: Response, opened: Opened, kind: str) -> Response:
    answer.headers["Content-Disposition"] = f'attachment; filename="{opened.name}.{kind}"'
    return answer


def _answers(answer: Answer, opener: Opener) -> Callable[[Request], Response]:
    def answered(request: Request) -> Response:
        opened = opener(request)
        if opened is None:
            return PlainTextResponse("there is no such timeline here\n", status_code=404)
        kept = _kept(opened)
        if request.headers.get("If-None-Match") == kept["ETag"]:
            return Response(status_code=304, headers=kept)
        try:
            return answer(request, opened)
        except BadQueryError as error:
            return PlainTextResponse(f"{error}\n", status_code=400)

    return answered


ANSWERS = {"": timeline, "/range": in_range, "/slices.csv": slices, "/chrome.json": chrome}
OPENERS = {"/api/v1/runs/{run_id}/timeline": open_run, "/api/v1/traces/{trace_id}/timeline": open_trace}
timeline_routes: list[BaseRoute] = [
    Route(f"{path}{ending}", _answers(answer, opener))
    for path, opener in OPENERS.items()
    for ending, answer in ANSWERS.items()
]
