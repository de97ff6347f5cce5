"""Times what a page asks, and counts the statements that it takes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psutil
from sqlalchemy import event

from benchmarks.history.pages import Asked
from db.session import Database

TURNS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """Of the whole calls, rows turned into what pages draw included. `cpu_ms` is what they cost on a busy machine too:
    the mean of this process's time and that of PostgreSQL's process for it, where that runs here."""

    name: str
    median_ms: float
    least_ms: float
    most_ms: float
    cpu_ms: float
    statements: int


def timed(db: Database, asked: Asked) -> Timed:
    asked.ask()
    processes = [psutil.Process(), *_servers(db)]
    before = sum(map(_cpu_s, processes))
    spent_ms = [_once_ms(asked) for _ in range(TURNS)]
    cpu_s = sum(map(_cpu_s, processes)) - before
    with sent(db) as statements:
        asked.ask()
    return Timed(
        name=asked.name,
        median_ms=statistics.median(spent_ms),
        least_ms=min(spent_ms),
        most_ms=max(spent_ms),
        cpu_ms=1e3 * cpu_s / TURNS,
        statements=len(statements),
    )


def _servers(db: Database) -> list[psutil.Process]:
    """The one connection's, which all of the pool's sessions take turns with."""
    if db.engine.dialect.name != "postgresql" or db.url.host not in ("127.0.0.1", "localhost"):
        return []
    with db.engine.connect() as connection:
        return [psutil.Process(connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one())]


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


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
