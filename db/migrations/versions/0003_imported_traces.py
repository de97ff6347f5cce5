"""Traces from elsewhere: imports, what traces hold, and comparisons of them"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("trace", sa.Column("contents", sa.Text(), nullable=True))
    op.add_column("comparison", sa.Column("kind", sa.String(32), nullable=False, server_default="runs"))
    op.create_table(
        "imported_trace",
        sa.Column("id", KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("file_name", sa.Text(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("spool", sa.String(64)),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("owner", sa.Text()),
        sa.Column("lease_until", sa.DateTime(timezone=True)),
        sa.Column("failure_kind", sa.String(32)),
        sa.Column("failure_message", sa.Text()),
        sa.Column("trace_id", KEY),
        sa.Column("submitted_by", sa.Text()),
        sa.Column("submitted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True)),
        sa.Column("ended_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(["trace_id"], ["trace.id"], name="fk_imported_trace_trace_id"),
        sa.PrimaryKeyConstraint("id", name="pk_imported_trace"),
        sa.UniqueConstraint("sha256", name="uq_imported_trace_sha256"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_imported_trace_status_lease_until", "imported_trace", ["status", "lease_until"])
    op.create_index("ix_imported_trace_submitted_at", "imported_trace", ["submitted_at"])
    op.create_index("ix_imported_trace_trace_id", "imported_trace", ["trace_id"])

    op.create_table(
        "compared_trace",
        sa.Column("comparison_id", KEY, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(8), nullable=False),
        sa.Column("imported_trace_id", KEY),
        sa.Column("run_id", KEY),
        sa.ForeignKeyConstraint(["comparison_id"], ["comparison.id"], name="fk_compared_trace_comparison_id"),
        sa.ForeignKeyConstraint(
            ["imported_trace_id"], ["imported_trace.id"], name="fk_compared_trace_imported_trace_id"
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_compared_trace_run_id"),
        sa.PrimaryKeyConstraint("comparison_id", "position", name="pk_compared_trace"),
        sa.UniqueConstraint("comparison_id", "key", name="uq_compared_trace_comparison_id_key"),
    )
    op.create_index("ix_compared_trace_imported_trace_id", "compared_trace", ["imported_trace_id"])
    op.create_index("ix_compared_trace_run_id", "compared_trace", ["run_id"])

    op.create_table(
        "trace_kernel",
        sa.Column("trace_id", KEY, nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("kernel_id", KEY, nullable=False),
        sa.Column("short_name", sa.Text(), nullable=False),
        sa.Column("role", sa.String(32), nullable=False),
        *(
            sa.Column(name, sa.BigInteger(), nullable=False)
            for name in ("calls", "total_ns", "min_ns", "p50_ns", "p95_ns", "max_ns")
        ),
        sa.ForeignKeyConstraint(["kernel_id"], ["kernel.id"], name="fk_trace_kernel_kernel_id"),
        sa.ForeignKeyConstraint(["trace_id"], ["trace.id"], name="fk_trace_kernel_trace_id"),
        sa.PrimaryKeyConstraint("trace_id", "place", name="pk_trace_kernel"),
    )
    op.create_index("ix_trace_kernel_kernel_id", "trace_kernel", ["kernel_id"])


def downgrade() -> None:
    """Comparisons of traces go: version 0002 would show them as comparisons of no runs."""
    for table in ("trace_kernel", "compared_trace", "imported_trace"):
        op.drop_table(table)
    op.execute("DELETE FROM share_link WHERE comparison_id IN (SELECT id FROM comparison WHERE kind = 'traces')")
    op.execute("DELETE FROM comparison WHERE kind = 'traces'")
    op.drop_column("comparison", "kind")
    op.drop_column("trace", "contents")
