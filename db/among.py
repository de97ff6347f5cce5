"""Whether a column is among the ids of a query whose size the planner cannot guess: looked up one by one in an index.

Of a text that is searched for, PostgreSQL supposes that a third of all names have it in them, and reads whole tables
for the few that do. Of an array it supposes ten elements.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Boolean, ColumnElement, Select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class _Among(FunctionElement[bool]):
    """Of the first, a column, in the second, a query in brackets."""

    name = "among"
    type = Boolean()
    inherit_cache = True

    def self_group(self, against: Any = None) -> Any:  # noqa: ARG002 - as its base has it
        """Never compared with 1, as SQLite's booleans are: then no index would be used."""
        return self


def among(column: InstrumentedAttribute[int], ids: Select[int]) -> ColumnElement[bool]:
    return _Among(column, ids.scalar_subquery())


@compiles(_Among, "sqlite")
def _in(element: _Among, compiler: SQLCompiler, **options: Any) -> str:
    column, ids = (compiler.process(clause, **options) for clause in element.clauses)
    return f"{column} IN {ids}"


@compiles(_Among, "postgresql")
def _any_of_array(element: _Among, compiler: SQLCompiler, **options: Any) -> str:
    column, ids = (compiler.process(clause, **options) for clause in element.clauses)
    return f"{column} = ANY (ARRAY{ids})"
