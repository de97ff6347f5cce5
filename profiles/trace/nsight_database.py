"""An SQLite file of unknown origin as a thing to read: opened so that it can neither change nor run anything, its rows
taken in runs. Which tables and columns there are differs by version of the program that wrote it, and is looked up."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from profiles.trace.errors import TraceTooLarge, UnreadableTrace
from profiles.trace.printable import printable

Row = tuple[object, ...]

_RUN = 8192  # rows
_LONGEST_VALUE = 16 << 20  # bytes of one text, blob or row
_HEADER = 100
_SAFE = (
    "PRAGMA query_only = ON",
    "PRAGMA trusted_schema = OFF",  # no functions with side effects in what the file defines
    "PRAGMA cell_size_check = ON",
    "PRAGMA mmap_size = 0",
    "PRAGMA cache_size = -8192",
    "PRAGMA temp_store = MEMORY",
)


class Database:
    """The ordinary tables of a file: views, virtual tables and generated columns could run on for ever, and no
    profiler writes them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0").fetchall()
        self.tables = {name: self._columns_of(name) for (name,) in names if isinstance(name, str)}

    def has(self, table: str, column: str) -> bool:
        return column in self.tables.get(table, ())

    def is_empty(self, table: str) -> bool:
        """Also where there is no such table."""
        return table not in self.tables or not self._connection.execute(f"{_select('1', table)} LIMIT 1").fetchone()

    def count(self, table: str) -> int:
        return int(self._connection.execute(_select("count(*)", table)).fetchone()[0])

    def rows(self, table: str, columns: Sequence[str]) -> Iterator[list[Row]]:
        """In runs, a value for each column asked for: None where the table lacks it. No run without the table."""
        if table in self.tables:
            yield from self._query(_select(self._selected(table, columns), table))

    def rows_named_by(
        self, table: str, columns: Sequence[str], *, key: str, references: Collection[tuple[str, str]]
    ) -> Iterator[list[Row]]:
        """Only the rows whose `key` one of the (table, column) holds."""
        sources = [_select(_quoted(column), source) for source, column in references if self.has(source, column)]
        if sources and self.has(table, key):
            wanted = f" WHERE {_quoted(key)} IN ({' UNION '.join(sources)})"
            yield from self._query(_select(self._selected(table, columns), table) + wanted)

    def _query(self, query: str) -> Iterator[list[Row]]:
        cursor = self._connection.execute(query)
        while run := cursor.fetchmany(_RUN):
            yield run

    def _selected(self, table: str, columns: Sequence[str]) -> str:
        return ", ".join(_quoted(column) if self.has(table, column) else "NULL" for column in columns)

    def _columns_of(self, table: str) -> frozenset[str]:
        return frozenset(row[1] for row in self._connection.execute(f"PRAGMA table_info({_quoted(table)})"))


@contextmanager
def open_database(path: Path) -> Iterator[Database]:
    """Read-only, and as a file that nobody writes: no journal is looked for and no lock taken. UnreadableTrace for
    whatever SQLite cannot read, here or while the rows are taken."""
    _check_whole(path)
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            yield Database(_made_safe(connection))
        finally:
            connection.close()
    except sqlite3.DataError as error:
        raise TraceTooLarge(f"a value of more than the limit of {_LONGEST_VALUE:,} bytes: {error}") from error
    except UnicodeDecodeError as error:  # raised for SQLite's own message where it quotes broken text
        raise UnreadableTrace("damaged SQLite database: its schema is no UTF-8 text") from error
    except sqlite3.Error as error:
        raise UnreadableTrace(f"damaged SQLite database: {printable(str(error))}") from error


def _made_safe(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.text_factory = _text
    for pragma in _SAFE:
        connection.execute(pragma)
    return connection


def _text(stored: bytes) -> str:
    """Text columns hold any bytes; a NUL in a name is one that databases and terminals refuse."""
    return stored.decode("utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")


def _check_whole(path: Path) -> None:
    """The header counts the pages. It only holds where the writer kept it (https://www.sqlite.org/fileformat2.html,
    "In-header database size")."""
    with path.open("rb") as file:
        header = file.read(_HEADER)
    size = path.stat().st_size
    if len(header) < _HEADER:
        raise UnreadableTrace(f"truncated: the SQLite database ends after {size:,} bytes, within its header")
    page = int.from_bytes(header[16:18], "big")
    expected = int.from_bytes(header[28:32], "big") * (65536 if page == 1 else page)
    if header[24:28] == header[92:96] and size < expected:
        raise UnreadableTrace(f"truncated: the SQLite database ends after {size:,} of {expected:,} bytes")


def _select(what: str, table: str) -> str:
    """Of names that `_quoted` has made safe; SQLite takes parameters for values alone."""
    return f"SELECT {what} FROM {_quoted(table)}"  # noqa: S608


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
