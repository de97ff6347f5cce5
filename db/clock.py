"""The database's clock in SQL, for SQLite and PostgreSQL: no worker's clock decides who owns a trial."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import ColumnElement
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from db.columns import Moment


class Now(FunctionElement[datetime]):
    """The time of the statement, `offset_s` seconds later (earlier where negative)."""

    type = Moment()
    name = "database_now"
    inherit_cache = False  # the offset is part of the SQL

    def __init__(self, offset_s: float) -> None:
        self.offset_s = float(offset_s)
        super().__init__()


def now() -> ColumnElement[datetime]:
    return Now(0.0)


def from_now(seconds: float) -> ColumnElement[datetime]:
    return Now(seconds)


@compiles(Now, "sqlite")
def _sqlite(element: Now, _compiler: SQLCompiler, **_: Any) -> str:
    # '%f' has milliseconds; the zeros give it the six decimals in which datetimes are stored and compared as text
    return f"strftime('%Y-%m-%d %H:%M:%f000', 'now', '{element.offset_s:+.3f} seconds')"


@compiles(Now, "postgresql")
def _postgresql(element: Now, _compiler: SQLCompiler, **_: Any) -> str:
    return f"(statement_timestamp() + interval '{element.offset_s:.3f} seconds')"
