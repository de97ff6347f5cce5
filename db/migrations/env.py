"""Alembic's environment: the connection, in its transaction, is given by the caller."""

from __future__ import annotations

from alembic import context

from db.models import Row

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Row.metadata,
    render_as_batch=True,  # SQLite alters a table by copying it
    compare_type=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
