"""Samples by build, kernels' launch shapes, and what a device can do at most; digests that outlive new fields"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from db.migrations.run_digests import renew_run_digests

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

ADDED = {
    "metric": (("builds", sa.Text), ("at_s", sa.LargeBinary), ("method", sa.Text)),
    "kernel_stat": (
        ("registers", sa.BigInteger),
        ("shared_bytes", sa.BigInteger),
        ("grid", sa.Text),
        ("block", sa.Text),
        ("occupancy", lambda: sa.Float(53)),
    ),
    "environment": (("ceilings", sa.Text),),
}


def upgrade() -> None:
    for table, columns in ADDED.items():
        for name, kind in columns:
            op.add_column(table, sa.Column(name, kind(), nullable=True))
    renew_run_digests(op.get_bind())


def downgrade() -> None:
    """The digests stay: version 0001 takes a bundle that it knows for new."""
    for table, columns in ADDED.items():
        with op.batch_alter_table(table) as batch:
            for name, _ in columns:
                batch.drop_column(name)
