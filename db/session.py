"""Connections and transactions: one way to write, one to read, alike on SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Literal

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, OperationalError
from sqlalchemy.orm import Session
from sqlalchemy.pool import ConnectionPoolEntry

from db.errors import DatabaseError

MIGRATIONS = Path(__file__).parent / "migrations"
BUSY_TIMEOUT_MS = 30_000
MIGRATION_LOCK = 7_305_816_114  # any number that nothing else on the server uses
WRITES = "fusescope_writes"


class Database:
    """A pool of connections. Not to be carried over a fork: open it in the process that uses it."""

    def __init__(self, url: str) -> None:
        self.url = _parsed(url)
        if self.url.get_backend_name() == "sqlite":
            _make_directory(self.url)
        self.engine = create_engine(self.url, pool_pre_ping=self.url.get_backend_name() != "sqlite")
        if self.engine.dialect.name == "sqlite":
            _take_over_transactions(self.engine)
        self._writing = self.engine.execution_options(**{WRITES: True})
        self._reading = self.engine
        if self.engine.dialect.name == "postgresql":
            event.listen(self.engine, "connect", _compile_no_query)
            self._reading = self.engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)

    def begin(self) -> AbstractContextManager[Session]:
        """A transaction that writes: committed at the end, rolled back by an exception.

        On SQLite it holds the one write lock from its start, so that it cannot fail half-way as "locked".
        """
        return _transaction(self._writing)

    def read(self) -> AbstractContextManager[Session]:
        """A transaction that only reads, on one snapshot; it waits for no writer."""
        return _transaction(self._reading)

    def upgrade(self) -> None:
        """Bring the tables to this version; safe in several processes at once."""
        self._migrate("upgrade", "head")

    def downgrade(self, revision: str) -> None:
        """Back to `revision`, or to nothing (`base`)."""
        self._migrate("downgrade", revision)

    def check_version(self) -> None:
        """DatabaseError unless the tables are this version's."""
        from alembic.runtime.migration import MigrationContext  # noqa: PLC0415 - slow to load, and seldom needed
        from alembic.script import ScriptDirectory  # noqa: PLC0415

        with self.engine.connect() as connection:
            found = MigrationContext.configure(connection).get_current_revision()
        expected = ScriptDirectory(str(MIGRATIONS)).get_current_head()
        if found != expected:
            raise DatabaseError(
                f"the database has tables of revision {found!r}, this version needs {expected!r}; "
                "start `fusescope up` once, or run `python -m db.migrations`"
            )

    def close(self) -> None:
        self.engine.dispose()

    def _migrate(self, move: Literal["upgrade", "downgrade"], revision: str) -> None:
        from alembic import command  # noqa: PLC0415 - slow to load, and seldom needed
        from alembic.config import Config  # noqa: PLC0415
        from alembic.runtime.migration import MigrationContext  # noqa: PLC0415

        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
        with self._writing.connect() as connection, _without_references(connection), connection.begin():
            if connection.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
            config.attributes["connection"] = connection
            before = MigrationContext.configure(connection).get_current_heads()
            getattr(command, move)(config, revision)
            if (
                connection.dialect.name == "sqlite"
                and MigrationContext.configure(connection).get_current_heads() != before
            ):
                _check_references(connection)


def open_database(url: str) -> Database:
    """The database at `url` (`sqlite:///…` or `postgresql://…`); DatabaseError where it does not answer."""
    database = Database(url)
    try:
        with database.engine.connect():
            return database
    except OperationalError as error:
        database.close()
        raise DatabaseError(f"the database {database.url.render_as_string()} does not answer: {error.orig}") from error


@contextmanager
def _transaction(engine: Engine) -> Iterator[Session]:
    with Session(engine, expire_on_commit=False) as session, session.begin():
        yield session


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise DatabaseError("the database's address is no URL; expected 'sqlite:///…' or 'postgresql://…'") from error
    if parsed.get_backend_name() not in ("sqlite", "postgresql"):
        raise DatabaseError(f"unknown database {parsed.drivername!r}; expected 'sqlite:///…' or 'postgresql://…'")
    return parsed.set(drivername="postgresql+psycopg") if parsed.drivername == "postgresql" else parsed


def _make_directory(url: URL) -> None:
    if not url.database or url.database == ":memory:":
        raise DatabaseError("a database in memory is seen by one process only; expected 'sqlite:///path/to/file.db'")
    directory = Path(url.database).parent
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DatabaseError(f"the database's directory {directory} cannot be made: {error.strerror}") from error


def _take_over_transactions(engine: Engine) -> None:
    """SQLite: transactions begin where we say so, as writers or as readers (the driver would begin too late)."""
    event.listen(engine, "connect", _configure_connection)
    event.listen(engine, "begin", _begin)


def _configure_connection(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (
        f"busy_timeout = {BUSY_TIMEOUT_MS}",
        "journal_mode = WAL",
        "synchronous = NORMAL",
        "foreign_keys = ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


@contextmanager
def _without_references(connection: Connection) -> Iterator[None]:
    """SQLite makes a table anew by dropping it, which the rows that refer to it forbid. It stops looking at them only
    between two transactions; what a migration leaves is checked at its end."""
    if connection.dialect.name != "sqlite":
        yield
        return
    _tell(connection, "foreign_keys = OFF")
    try:
        yield
    finally:
        _tell(connection, "foreign_keys = ON")


def _check_references(connection: Connection) -> None:
    """DatabaseError where a row refers to one that is not there: then nothing of the migration stays."""
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
    if broken is not None:
        raise DatabaseError(f"row {broken[1]} of {broken[0]} refers to a row of {broken[2]} that is not there")


def _tell(connection: Connection, pragma: str) -> None:
    """Past SQLAlchemy, which would begin a transaction."""
    cursor = connection.connection.cursor()
    cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _compile_no_query(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    """PostgreSQL: the planner takes a job's status for so dear that it compiles the query, which takes 25 to 50 ms, for
    an answer that then takes 10."""
    connection.autocommit = True  # what is set within a transaction would go with it
    connection.cursor().execute("SET jit = off")
    connection.autocommit = False


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get(WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
