"""Insert what is not there yet, whoever else is writing: the same for SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from db.models import Row

AT_ONCE = 500  # rows per statement: both databases limit its parameters


def insert_new(session: Session, row: type[Row], values: Sequence[Mapping[str, Any]], *, key: str) -> int:
    """Insert `values`, leaving alone those whose `key` (a unique column) is there; the number of new rows."""
    insert = sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert
    new = 0
    for first in range(0, len(values), AT_ONCE):
        statement = insert(row).values(list(values[first : first + AT_ONCE]))
        unseen = statement.on_conflict_do_nothing(index_elements=[key]).returning(getattr(row, key))
        new += len(session.scalars(unseen).all())
    return new
