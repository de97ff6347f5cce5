"""Insert what is not there yet, in one statement: the same for SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from db.models import Row


def insert_new(session: Session, row: type[Row], values: Sequence[Mapping[str, Any]], *, key: str) -> None:
    """Insert `values`, leaving alone those whose `key` (a unique column) is there, also by a writer at this moment."""
    insert = sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert
    session.execute(insert(row).on_conflict_do_nothing(index_elements=[key]), list(values))
