"""The web server: Streamlit's pages and our own routes in one ASGI application.

`python -m app.server --host HOST --port PORT`, or `uvicorn app.server:app`.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path

import streamlit as st
import uvicorn
from starlette.middleware import Middleware
from streamlit.runtime.pages_manager import PagesManager

from app.headers import PrivacyHeaders
from app.hosts import KnownHost, restrict_to
from app.routes import routes

MAIN = Path(__file__).parent / "main.py"
SLOW_TO_IMPORT = "scipy.special"
"""A quarter of a second, which the first comparison with verdicts shall not wait for."""


@asynccontextmanager
async def _life(_app: st.App) -> AsyncIterator[None]:
    _keep_quiet()
    importing = asyncio.create_task(asyncio.to_thread(import_module, SLOW_TO_IMPORT))
    yield
    await importing


def _keep_quiet() -> None:
    """No access log: its lines would hold the tokens of shared links. Streamlit turns it on again at its start."""
    logging.getLogger("uvicorn.access").setLevel(logging.WARNING)
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)


# Streamlit takes our pages/ for its old kind of pages until the script has run once: the first visitor after a start
# would be told that a deep link does not exist.
PagesManager.uses_pages_directory = False

app = st.App(MAIN, routes=routes(), middleware=[Middleware(PrivacyHeaders), Middleware(KnownHost)], lifespan=_life)


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python -m app.server", description="Serve the pages and the API.")
    arguments.add_argument("--host", default="127.0.0.1")
    arguments.add_argument("--port", type=int, default=8501)
    options = arguments.parse_args()
    restrict_to(options.host)
    uvicorn.run(app, host=options.host, port=options.port, access_log=False, log_level="warning")


if __name__ == "__main__":
    main()
