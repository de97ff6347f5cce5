"""Indices that answer a search by themselves: runs and traces by kernel, comparisons by run"""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

LONGER = {
    "kernel_stat": (("kernel_id",), "run_id"),
    "trace_kernel": (("kernel_id",), "trace_id"),
    "comparison_entry": (("trial_id", "variant"), "comparison_id"),
}


def upgrade() -> None:
    for table, (columns, more) in LONGER.items():
        name = f"ix_{table}_{'_'.join(columns)}"
        op.create_index(f"{name}_{more}", table, [*columns, more])
        op.drop_index(name, table)


def downgrade() -> None:
    for table, (columns, more) in LONGER.items():
        name = f"ix_{table}_{'_'.join(columns)}"
        op.create_index(name, table, list(columns))
        op.drop_index(f"{name}_{more}", table)
