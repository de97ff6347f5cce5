"""`python -m benchmarks.history`: the pages' queries over a year of 10,000 runs, on SQLite and on PostgreSQL.

Each database is made for this and removed at the end. PostgreSQL is the one at FUSESCOPE_TEST_POSTGRES, else on this
machine. Printed are the times of whole calls, rows turned into what pages draw included.
"""

from __future__ import annotations

import argparse
import os
import platform
import sqlite3
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
from sqlalchemy import func, select
from sqlalchemy.engine import make_url

from benchmarks.history.filling import fill
from benchmarks.history.made import trials
from benchmarks.history.pages import pages
from benchmarks.history.timing import Timed, timed
from db import history
from db.models import ComparisonRow, ImportedTraceRow, KernelRow, KernelStatRow, RunRow, TraceKernelRow
from db.session import Database, open_database

POSTGRES = os.environ.get("FUSESCOPE_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres")
KINDS = ("sqlite", "postgresql")
TARGET_MS = 50.0
RUNS_TO_A_TRACE = 10


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.history", description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--database", choices=KINDS, action="append", help="both, unless one is named")
    parser.add_argument("--at", help="the address of a database to keep; it is filled where it has no runs")
    parser.add_argument("--only", default="", help="pages whose name has this in it")
    options = parser.parse_args()
    if options.at is not None:
        _report(options.at, runs=options.runs, only=options.only)
        return
    for kind in options.database or KINDS:
        with _sqlite() if kind == "sqlite" else _postgresql() as url:
            _report(url, runs=options.runs, only=options.only)


def _report(url: str, *, runs: int, only: str) -> None:
    db = open_database(url)
    db.upgrade()
    began = time.monotonic()
    if not history.runs(db, limit=1).total:
        fill(db, trials(runs), traces=runs // RUNS_TO_A_TRACE)
    print(f"\n{_version(db)}: {_size(db)}, filled in {time.monotonic() - began:.0f} s; load {os.getloadavg()[0]:.1f}")
    print(f"{'':64} median  least   most    CPU, ms  statements")
    for asked in pages(db):
        if only in asked.name:
            print(_line(timed(db, asked)), flush=True)
    db.close()


def _line(took: Timed) -> str:
    late = f"  over {TARGET_MS:g} ms" if took.median_ms > TARGET_MS else ""
    times = f"{took.median_ms:6.1f} {took.least_ms:6.1f} {took.most_ms:6.1f} {took.cpu_ms:6.1f}"
    return f"{took.name:64} {times} {took.statements:15}{late}"


def _size(db: Database) -> str:
    counted = {
        "runs": RunRow,
        "kernel rows of runs": KernelStatRow,
        "imported traces": ImportedTraceRow,
        "kernel rows of traces": TraceKernelRow,
        "kernel names": KernelRow,
        "comparisons": ComparisonRow,
    }
    with db.read() as session:
        numbers = {name: session.scalar(select(func.count()).select_from(row)) for name, row in counted.items()}
    return ", ".join(f"{number:,} {name}" for name, number in numbers.items())


def _version(db: Database) -> str:
    if db.engine.dialect.name == "sqlite":
        return f"SQLite {sqlite3.sqlite_version}, Python {platform.python_version()}"
    with db.engine.connect() as connection:
        return f"PostgreSQL {connection.exec_driver_sql('SHOW server_version').scalar_one()}"


@contextmanager
def _sqlite() -> Iterator[str]:
    with TemporaryDirectory(prefix="fusescope-history-") as directory:
        yield f"sqlite:///{Path(directory) / 'history.db'}"


@contextmanager
def _postgresql() -> Iterator[str]:
    name = f"fusescope_history_{uuid.uuid4().hex}"
    with psycopg.connect(POSTGRES, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"'.encode())
    try:
        yield make_url(POSTGRES).set(database=name).render_as_string(hide_password=False)
    finally:
        with psycopg.connect(POSTGRES, autocommit=True) as server:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())


if __name__ == "__main__":
    main()
