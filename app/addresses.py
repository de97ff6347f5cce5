"""The addresses of pages, relative so that they hold under any base path. What matters on a page is in its query."""

from __future__ import annotations

from urllib.parse import urlencode

START = "./"
NEW_JOB = "new-job"
JOBS = "jobs"
HISTORY = "history"
WORKERS = "workers"
COMPARISON = "comparison"

MOST_ID = 2**31 - 1


def address(page: str, **query: str | int | None) -> str:
    """`history?operation=attention`; what is None is left out."""
    given = {name: value for name, value in query.items() if value is not None}
    return f"{page}?{urlencode(given)}" if given else page


def identity(text: str | None) -> int | None:
    """The id that an address names; None where it is none that a database could hold."""
    if text is None or not (text.isascii() and text.isdigit() and len(text) <= len(str(MOST_ID))):
        return None
    return int(text) if 1 <= int(text) <= MOST_ID else None


def comparison(comparison_id: int) -> str:
    return address(COMPARISON, id=comparison_id)
