"""`/s/{token}`: opens a shared comparison, or says kindly that there is none."""

from __future__ import annotations

from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app import context
from app.theme import LOGO
from db import shares

NO_SUCH_LINK = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex"><title>No such link · Fusescope</title>
<link rel="icon" href="data:,">
<style>
@font-face {{ font-family: Inter; src: url("../app/static/fonts/inter-400.woff2"); font-weight: 400; }}
@font-face {{ font-family: Inter; src: url("../app/static/fonts/inter-600.woff2"); font-weight: 600; }}
:root {{ color-scheme: light dark; }}
body {{ font: 14px/1.5 Inter, sans-serif; margin: 0; padding: 24px 32px; color: light-dark(#171A1F, #E6E9ED);
  background: light-dark(#FFFFFF, #0F1216); }}
h1 {{ font-size: 22px; font-weight: 600; margin: 48px 0 4px; letter-spacing: -0.01em; }}
p {{ margin: 0; color: light-dark(#626A75, #98A1AD); }}
</style></head>
<body>{logo}<h1>This link does not exist or was revoked.</h1><p>Ask its sender for a new one.</p></body></html>
"""


async def open_shared(request: Request) -> Response:
    """Counts an opening and goes on to the page, which authorises the token again; 404 where nothing is shared."""
    token = request.path_params["token"]
    if await run_in_threadpool(shares.open_link, context.database(), token) is None:
        return HTMLResponse(NO_SUCH_LINK.format(logo=LOGO.read_text()), status_code=404)
    return RedirectResponse(f"../?token={quote(token, safe='')}", status_code=303)
