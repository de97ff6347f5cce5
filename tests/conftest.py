"""Databases for tests: each new or emptied, on SQLite and on PostgreSQL where it answers.

PostgreSQL is looked for at FUSESCOPE_TEST_POSTGRES, else on this machine; with FUSESCOPE_REQUIRE_SERVICES=1 a server
that does not answer is a failure, not a skip.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import delete, text
from sqlalchemy.engine import make_url

from db.models import Row
from db.session import Database, open_database

POSTGRES = os.environ.get("FUSESCOPE_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres")
BOTH = ["sqlite", pytest.param("postgresql", marks=pytest.mark.services)]


@pytest.fixture(params=BOTH)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a new, empty database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'test.db'}"
    else:
        yield from _new_postgres()


@pytest.fixture(params=BOTH)
def database(request: pytest.FixtureRequest) -> Database:
    """A new database with this version's tables."""
    opened: Database = request.getfixturevalue(f"{request.param}_database")
    return opened


@pytest.fixture
def sqlite_database(tmp_path: Path, _sqlite_template: Path) -> Iterator[Database]:
    """For tests of what lies above the database, where one kind is enough."""
    yield from _opened(f"sqlite:///{shutil.copy(_sqlite_template, tmp_path / 'test.db')}")


@pytest.fixture
def postgresql_database(_postgresql_url: str) -> Iterator[Database]:
    """Emptied before each test, row by row: to truncate its tables takes ten times as long, to make it anew more."""
    for opened in _opened(_postgresql_url):
        with opened.begin() as session:
            for table in reversed(Row.metadata.sorted_tables):
                session.execute(delete(table))
            for table in Row.metadata.sorted_tables:
                if "id" in table.columns:
                    session.execute(text(f"ALTER SEQUENCE {table.name}_id_seq RESTART"))
        yield opened


@pytest.fixture
def open_again(database: Database) -> Iterator[Callable[[], Database]]:
    """Opens the test's database once more, as another process would."""
    opened: list[Database] = []

    def open_once_more() -> Database:
        opened.append(open_database(database.url.render_as_string(hide_password=False)))
        return opened[-1]

    yield open_once_more
    for other in opened:
        other.close()


@pytest.fixture(scope="session")
def _sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "template.db"
    _upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def _postgresql_url() -> Iterator[str]:
    for url in _new_postgres():
        _upgrade(url)
        yield url


def _opened(url: str) -> Iterator[Database]:
    opened = open_database(url)
    yield opened
    opened.close()


def _upgrade(url: str) -> None:
    for opened in _opened(url):
        opened.upgrade()


def _new_postgres() -> Iterator[str]:
    reason = _why_no_postgres()
    if reason is not None and os.environ.get("FUSESCOPE_REQUIRE_SERVICES") == "1":
        pytest.fail(reason)
    if reason is not None:
        pytest.skip(reason)
    name = f"fusescope_test_{uuid.uuid4().hex}"
    with psycopg.connect(POSTGRES, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"'.encode())
    yield make_url(POSTGRES).set(database=name).render_as_string(hide_password=False)
    with psycopg.connect(POSTGRES, autocommit=True) as server:
        server.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())


@cache
def _why_no_postgres() -> str | None:
    try:
        psycopg.connect(POSTGRES, connect_timeout=3).close()
    except psycopg.OperationalError as error:
        return f"PostgreSQL does not answer at {make_url(POSTGRES).render_as_string()}: {str(error).splitlines()[0]}"
    return None
