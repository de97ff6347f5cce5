"""Names under which this server may be called: a server on loopback answers to loopback names alone.

Without this a foreign page could have its own name resolve to 127.0.0.1 and then count as the same origin.
Streamlit's `server.allowedHosts` holds the names, so that its WebSocket refuses the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config

LOOPBACK = ("localhost", "127.0.0.1", "::1")
OPTION = "server.allowedHosts"


def restrict_to(host: str) -> None:
    """For a server that listens on `host`; names that are configured already stay as they are."""
    if host in LOOPBACK and not config.get_option(OPTION):
        config.set_option(OPTION, list(LOOPBACK))


class KnownHost:
    """400 for a name that the configuration does not list; every name is known where it lists none."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not _is_known(Headers(scope=scope).get("host", ""), config.get_option(OPTION)):
            told = "unknown host name; set STREAMLIT_SERVER_ALLOWED_HOSTS to serve under other names\n"
            await PlainTextResponse(told, status_code=400)(scope, receive, send)
            return
        await self.app(scope, receive, send)


def _is_known(host: str, known: Sequence[str]) -> bool:
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() and not host.endswith("]") else host
    name = name.strip("[]").lower()
    return not known or any(_matches(name, pattern) for pattern in known)


def _matches(name: str, pattern: str) -> bool:
    return pattern in ("*", name) or (pattern.startswith("*.") and name.endswith(pattern[1:]))
