"""Requests that change something come from our own pages or from no page at all: a foreign page's are refused."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.wire import problem

READING = ("GET", "HEAD", "OPTIONS")


class SameOrigin:
    """Browsers say where a request comes from (Sec-Fetch-Site, Origin); other clients say nothing and may pass."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] not in READING and _is_foreign(Request(scope)):
            await problem(403, "requests from other sites' pages are refused")(scope, receive, send)
            return
        await self.app(scope, receive, send)


def _is_foreign(request: Request) -> bool:
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = request.headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != request.headers.get("host")
