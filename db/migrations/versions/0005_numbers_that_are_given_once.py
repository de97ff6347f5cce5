"""Numbers that are given once, traces whose raw file is removed, and which run names which text file"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Literal

import sqlalchemy as sa
from alembic import op
from alembic.operations import BatchOperations

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

RENUMBERED = ("comparison", "share_link")  # and traces: what can be deleted and has an address
AT_ONCE = 500
SHA256 = re.compile(r"[0-9a-f]{64}")


def upgrade() -> None:
    for table in RENUMBERED:
        with _remade(table, numbers_once=True):
            pass
    with _remade("trace", numbers_once=True) as batch:
        # SQLite reads all of the long columns to reach what lies behind them; PostgreSQL keeps those apart.
        batch.add_column(
            sa.Column("raw_removed_at", sa.DateTime(timezone=True)), insert_after="slices" if _on_sqlite() else None
        )
    op.create_index("ix_trace_raw_removed_at_stored_at", "trace", ["raw_removed_at", "stored_at"])
    op.create_table(
        "run_artefact",
        sa.Column("run_id", KEY, nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_run_artefact_run_id"),
        sa.PrimaryKeyConstraint("run_id", "sha256", name="pk_run_artefact"),
    )
    op.create_index("ix_run_artefact_sha256", "run_artefact", ["sha256"])
    _name_artefacts(op.get_bind())


def downgrade() -> None:
    """Raw files that were removed stay so: version 0004 says of them that the store does not hold them."""
    op.drop_table("run_artefact")
    op.drop_index("ix_trace_raw_removed_at_stored_at", "trace")
    with _remade("trace", numbers_once=False) as batch:
        batch.drop_column("raw_removed_at")
    for table in RENUMBERED:
        with _remade(table, numbers_once=False):
            pass


def _remade(table: str, *, numbers_once: bool) -> AbstractContextManager[BatchOperations]:
    """SQLite gives the number of a deleted last row to the next one unless the table is made otherwise; made anew, it
    goes on from the highest number that is in it. PostgreSQL's sequences never go back: there nothing is made anew."""
    recreate: Literal["always", "never"] = "always" if _on_sqlite() else "never"
    return op.batch_alter_table(table, recreate=recreate, table_kwargs={"sqlite_autoincrement": numbers_once})


def _on_sqlite() -> bool:
    return op.get_context().dialect.name == "sqlite"


def _name_artefacts(connection: sa.Connection) -> None:
    named = sa.table("run_artefact", sa.column("run_id"), sa.column("sha256"))
    rows = list(_artefacts(connection))
    for first in range(0, len(rows), AT_ONCE):
        connection.execute(named.insert(), rows[first : first + AT_ONCE])


def _artefacts(connection: sa.Connection) -> Iterator[dict[str, object]]:
    """Of every run whose record tells of some, each once; what is no hash names no file that could be there."""
    run = sa.table("run", sa.column("id", KEY), sa.column("record", sa.Text))
    query = sa.select(run.c.id, run.c.record).where(run.c.record.contains('"artefacts":[{', autoescape=True))
    for run_id, record in connection.execute(query):
        for sha256 in dict.fromkeys(one["sha256"] for one in json.loads(record)["artefacts"]):
            if SHA256.fullmatch(sha256):
                yield {"run_id": run_id, "sha256": sha256}
