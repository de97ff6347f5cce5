"""The addresses of pages, relative so that they hold under any base path. What matters on a page is in its query."""

from __future__ import annotations

from urllib.parse import urlencode

START = "./"
NEW_JOB = "new-job"
JOBS = "jobs"
HISTORY = "history"
WORKERS = "workers"
COMPARISON = "comparison"


def address(page: str, **query: str | int | None) -> str:
    """`history?operation=attention`; what is None is left out."""
    given = {name: value for name, value in query.items() if value is not None}
    return f"{page}?{urlencode(given)}" if given else page


def comparison(comparison_id: int) -> str:
    return address(COMPARISON, id=comparison_id)
