"""The first tables"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "environment",
        sa.Column("id", KEY, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("device", sa.String(32), nullable=False),
        sa.Column("device_name", sa.Text(), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_environment"),
        sa.UniqueConstraint("digest", name="uq_environment_digest"),
    )
    op.create_index("ix_environment_device_name", "environment", ["device_name"])

    op.create_table(
        "job",
        sa.Column("id", KEY, nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("submitted_by", sa.Text()),
        sa.Column("submitted_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_job"),
    )
    op.create_index("ix_job_submitted_at", "job", ["submitted_at"])

    op.create_table(
        "kernel",
        sa.Column("id", KEY, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_kernel"),
        sa.UniqueConstraint("digest", name="uq_kernel_digest"),
    )
    op.create_table(
        "trace",
        sa.Column("id", KEY, nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("slices", sa.BigInteger(), nullable=False),
        sa.Column("health", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("tables", sa.Text(), nullable=False),
        sa.Column("stored_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_trace"),
        sa.UniqueConstraint("sha256", name="uq_trace_sha256"),
    )
    op.create_table(
        "worker",
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("capabilities", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_worker"),
    )
    op.create_table(
        "comparison",
        sa.Column("id", KEY, nullable=False),
        sa.Column("job_id", KEY),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("view", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text()),
        sa.Column("created_by", sa.Text()),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_comparison_job_id"),
        sa.PrimaryKeyConstraint("id", name="pk_comparison"),
        sa.UniqueConstraint("job_id", name="uq_comparison_job_id"),
    )
    op.create_index("ix_comparison_created_at", "comparison", ["created_at"])

    op.create_table(
        "timeline_chunk",
        sa.Column("trace_id", KEY, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("t0", sa.BigInteger(), nullable=False),
        sa.Column("t1", sa.BigInteger(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("codec", sa.String(32), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["trace_id"], ["trace.id"], name="fk_timeline_chunk_trace_id"),
        sa.PrimaryKeyConstraint("trace_id", "seq", name="pk_timeline_chunk"),
    )
    op.create_table(
        "trial",
        sa.Column("id", KEY, nullable=False),
        sa.Column("job_id", KEY),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("operation", sa.String(64), nullable=False),
        sa.Column("workload", sa.Text(), nullable=False),
        sa.Column("variants", sa.Text(), nullable=False),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.Column("preset", sa.Text()),
        sa.Column("device", sa.String(32), nullable=False),
        sa.Column("shape", sa.String(64)),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("owner", sa.Text()),
        sa.Column("lease_until", sa.DateTime(timezone=True)),
        sa.Column("cancel_requested", sa.Boolean(), nullable=False),
        sa.Column("retry_of", KEY),
        sa.Column("failure_kind", sa.String(32)),
        sa.Column("failure_message", sa.Text()),
        sa.Column("steps", sa.Text(), nullable=False),
        sa.Column("queued_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True)),
        sa.Column("ended_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_trial_job_id"),
        sa.ForeignKeyConstraint(["retry_of"], ["trial.id"], name="fk_trial_retry_of"),
        sa.PrimaryKeyConstraint("id", name="pk_trial"),
        sa.UniqueConstraint("retry_of", name="uq_trial_retry_of"),
    )
    op.create_index("ix_trial_job_id_status", "trial", ["job_id", "status"])
    op.create_index("ix_trial_operation", "trial", ["operation"])
    op.create_index("ix_trial_shape_ended_at", "trial", ["shape", "ended_at"])
    op.create_index("ix_trial_status_lease_until", "trial", ["status", "lease_until"])

    op.create_table(
        "comparison_entry",
        sa.Column("comparison_id", KEY, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(8), nullable=False),
        sa.Column("trial_id", KEY, nullable=False),
        sa.Column("variant", sa.String(255), nullable=False),
        sa.ForeignKeyConstraint(["comparison_id"], ["comparison.id"], name="fk_comparison_entry_comparison_id"),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name="fk_comparison_entry_trial_id"),
        sa.PrimaryKeyConstraint("comparison_id", "position", name="pk_comparison_entry"),
        sa.UniqueConstraint("comparison_id", "key", name="uq_comparison_entry_comparison_id_key"),
    )
    op.create_index("ix_comparison_entry_trial_id_variant", "comparison_entry", ["trial_id", "variant"])

    op.create_table(
        "run",
        sa.Column("id", KEY, nullable=False),
        sa.Column("trial_id", KEY, nullable=False),
        sa.Column("variant", sa.String(255), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("failure_kind", sa.String(32)),
        sa.Column("failure_message", sa.Text()),
        sa.Column("environment_id", KEY),
        sa.Column("trace_id", KEY),
        sa.Column("record", sa.Text(), nullable=False),
        sa.Column("measured_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["environment_id"], ["environment.id"], name="fk_run_environment_id"),
        sa.ForeignKeyConstraint(["trace_id"], ["trace.id"], name="fk_run_trace_id"),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name="fk_run_trial_id"),
        sa.PrimaryKeyConstraint("id", name="pk_run"),
        sa.UniqueConstraint("trial_id", "variant", name="uq_run_trial_id_variant"),
    )
    op.create_index("ix_run_digest", "run", ["digest"])
    op.create_index("ix_run_environment_id", "run", ["environment_id"])
    op.create_index("ix_run_measured_at", "run", ["measured_at"])
    op.create_index("ix_run_status_measured_at", "run", ["status", "measured_at"])
    op.create_index("ix_run_trial_id_status", "run", ["trial_id", "status"])
    op.create_index("ix_run_trace_id", "run", ["trace_id"])

    op.create_table(
        "share_link",
        sa.Column("id", KEY, nullable=False),
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("hint", sa.String(8), nullable=False),
        sa.Column("scope", sa.String(32), nullable=False),
        sa.Column("comparison_id", KEY, nullable=False),
        sa.Column("view", sa.Text(), nullable=False),
        sa.Column("note", sa.Text()),
        sa.Column("show_hosts", sa.Boolean(), nullable=False),
        sa.Column("created_by", sa.Text()),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True)),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
        sa.Column("opened", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["comparison_id"], ["comparison.id"], name="fk_share_link_comparison_id"),
        sa.PrimaryKeyConstraint("id", name="pk_share_link"),
        sa.UniqueConstraint("token_hash", name="uq_share_link_token_hash"),
    )
    op.create_index("ix_share_link_comparison_id", "share_link", ["comparison_id"])

    op.create_table(
        "kernel_stat",
        sa.Column("run_id", KEY, nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("kernel_id", KEY, nullable=False),
        sa.Column("short_name", sa.Text(), nullable=False),
        sa.Column("role", sa.String(32), nullable=False),
        sa.Column("stages", sa.Text(), nullable=False),
        sa.Column("calls", sa.BigInteger(), nullable=False),
        sa.Column("total_ns", sa.BigInteger(), nullable=False),
        sa.Column("min_ns", sa.BigInteger(), nullable=False),
        sa.Column("max_ns", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["kernel_id"], ["kernel.id"], name="fk_kernel_stat_kernel_id"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_kernel_stat_run_id"),
        sa.PrimaryKeyConstraint("run_id", "place", name="pk_kernel_stat"),
    )
    op.create_index("ix_kernel_stat_kernel_id", "kernel_stat", ["kernel_id"])

    op.create_table(
        "metric",
        sa.Column("run_id", KEY, nullable=False),
        sa.Column("position", sa.SmallInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("unit", sa.Text(), nullable=False),
        sa.Column("statistic", sa.Text(), nullable=False),
        sa.Column("value", sa.Float(precision=53), nullable=False),
        sa.Column("low", sa.Float(precision=53)),
        sa.Column("high", sa.Float(precision=53)),
        sa.Column("interval", sa.Text()),
        sa.Column("samples", sa.LargeBinary()),
        sa.Column("doubt", sa.Text()),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_metric_run_id"),
        sa.PrimaryKeyConstraint("run_id", "position", name="pk_metric"),
    )


def downgrade() -> None:
    for table in (
        "metric",
        "kernel_stat",
        "share_link",
        "run",
        "comparison_entry",
        "trial",
        "timeline_chunk",
        "comparison",
        "worker",
        "trace",
        "kernel",
        "job",
        "environment",
    ):
        op.drop_table(table)
