"""Times what a page asks, and counts the statements that it takes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import event

from benchmarks.history.pages import Asked
from db.session import Database

TURNS = 11


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """Of the whole calls, rows turned into what pages draw included."""

    name: str
    median_ms: float
    least_ms: float
    most_ms: float
    statements: int


def timed(db: Database, asked: Asked) -> Timed:
    asked.ask()
    spent_ms = [_once_ms(asked) for _ in range(TURNS)]
    with sent(db) as statements:
        asked.ask()
    return Timed(
        name=asked.name,
        median_ms=statistics.median(spent_ms),
        least_ms=min(spent_ms),
        most_ms=max(spent_ms),
        statements=len(statements),
    )


def _once_ms(asked: Asked) -> float:
    began = time.perf_counter()
    asked.ask()
    return 1e3 * (time.perf_counter() - began)


@contextmanager
def sent(db: Database) -> Iterator[list[str]]:
    """What is sent to the database within the block."""
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        statements.append(statement)

    event.listen(db.engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(db.engine, "before_cursor_execute", note)
