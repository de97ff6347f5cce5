"""Our own routes beside Streamlit's: health, shared links, the API, and the files and timelines of comparisons."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from app import context
from app.api.application import make_api
from app.comparison.artefacts import artefact_routes
from app.comparison.reproduce import reproduce_routes
from app.comparison.routes import comparison_routes
from app.shared_links import open_shared
from app.timeline.routes import timeline_routes
from db.errors import DatabaseError


def routes() -> list[BaseRoute]:
    return [
        Route("/healthz", healthz),
        Route("/readyz", readyz),
        Route("/s/{token}", open_shared),
        *timeline_routes,
        *comparison_routes,
        *artefact_routes,
        *reproduce_routes,
        Mount("/api/v1", make_api()),
    ]


async def healthz(_request: Request) -> Response:
    """The process answers."""
    return PlainTextResponse("ok\n")


def readyz(_request: Request) -> Response:
    """The database answers and has this version's tables."""
    try:
        database = context.database()
        with database.read() as session:
            session.execute(text("SELECT 1"))
        database.check_version()
    except (DatabaseError, SQLAlchemyError) as error:
        return PlainTextResponse(f"not ready: {str(error).splitlines()[0]}\n", status_code=503)
    return PlainTextResponse("ready\n")
