"""What every answer says about itself: where its address may go, and who may frame it."""

from __future__ import annotations

from urllib.parse import parse_qs

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ALWAYS = {"X-Content-Type-Options": "nosniff", "X-Frame-Options": "SAMEORIGIN", "Referrer-Policy": "same-origin"}
WITH_TOKEN = {"Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex, nofollow", "Cache-Control": "no-store"}


class PrivacyHeaders:
    """An address that holds a share token goes into no Referer, no search engine and no shared cache."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        added = {**ALWAYS, **(WITH_TOKEN if _has_token(scope) else {})}

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(added)
            await send(message)

        await self.app(scope, receive, send_with_headers)


def _has_token(scope: Scope) -> bool:
    return scope["path"].startswith(("/s/", "/api/v1/shared/")) or "token" in parse_qs(
        scope["query_string"].decode("latin-1")
    )
