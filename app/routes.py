"""Our own routes beside Streamlit's: health, shared links and the API."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route


def routes() -> list[BaseRoute]:
    return [Route("/healthz", healthz)]


async def healthz(_request: Request) -> Response:
    """The process answers."""
    return PlainTextResponse("ok\n")
