"""The tables. Rows never leave `db`: its modules hand out the values of `db.views` and of `profiles`.

A trial holds its own plan and preset, so that imported results, which have no job, are read like measured ones.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import (
    BigInteger,
    Boolean,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from db.clock import now
from db.columns import AnyText, Json, Moment, Samples, values_of
from db.records import RunRecord, TimelineTables, VariantSteps
from db.views import ComparisonKind, ImportFailureKind, ImportStatus, TrialStatus, ViewState
from profiles.ceilings import Ceilings
from profiles.environment import Environment
from profiles.job import JobRequest
from profiles.plan import Plan
from profiles.results import FailureKind, Finding, Role, RunStatus
from profiles.trace.contents import TraceContents
from profiles.trace.summary import TraceSummary
from profiles.worker import Capabilities
from profiles.workload import Workload

Key = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers its rows only by INTEGER
GIVEN_ONCE = {"sqlite_autoincrement": True}  # else SQLite gives the number of the last row again once it is deleted
Digest = String(64)


class Row(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class JobRow(Row):
    __tablename__ = "job"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    request: Mapped[JobRequest] = mapped_column(Json(JobRequest))
    submitted_by: Mapped[str | None] = mapped_column(AnyText)
    submitted_at: Mapped[datetime] = mapped_column(Moment, default=now(), index=True)


class TrialRow(Row):
    """`device` is the queue's device class; `shape` digests what its duration depends on; `published_at` is when its
    id was last sent to the queue; `retry_of` is unique: a trial is tried again once, then its successor is."""

    __tablename__ = "trial"
    __table_args__ = (
        Index("ix_trial_job_id_status", "job_id", "status"),
        Index("ix_trial_status_lease_until", "status", "lease_until"),
        Index("ix_trial_shape_ended_at", "shape", "ended_at"),
    )

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    job_id: Mapped[int | None] = mapped_column(ForeignKey("job.id"))
    position: Mapped[int] = mapped_column(Integer)
    operation: Mapped[str] = mapped_column(String(64), index=True)
    workload: Mapped[Workload] = mapped_column(Json(Workload))
    variants: Mapped[tuple[str, ...]] = mapped_column(Json(tuple[str, ...]))
    plan: Mapped[Plan] = mapped_column(Json(Plan))
    preset: Mapped[str | None] = mapped_column(AnyText)
    device: Mapped[str] = mapped_column(String(32))
    shape: Mapped[str | None] = mapped_column(Digest)
    status: Mapped[TrialStatus] = mapped_column(values_of(TrialStatus), default=TrialStatus.QUEUED)
    attempt: Mapped[int] = mapped_column(Integer, default=0)
    owner: Mapped[str | None] = mapped_column(Text)
    lease_until: Mapped[datetime | None] = mapped_column(Moment)
    cancel_requested: Mapped[bool] = mapped_column(Boolean, default=False)
    retry_of: Mapped[int | None] = mapped_column(ForeignKey("trial.id"), unique=True)
    failure_kind: Mapped[FailureKind | None] = mapped_column(values_of(FailureKind))
    failure_message: Mapped[str | None] = mapped_column(AnyText)
    steps: Mapped[tuple[VariantSteps, ...]] = mapped_column(Json(tuple[VariantSteps, ...]), default=())
    queued_at: Mapped[datetime] = mapped_column(Moment, default=now())
    published_at: Mapped[datetime] = mapped_column(Moment, default=now())
    started_at: Mapped[datetime | None] = mapped_column(Moment)
    ended_at: Mapped[datetime | None] = mapped_column(Moment)


class EnvironmentRow(Row):
    """`ceilings` are measured once; the first ones stay."""

    __tablename__ = "environment"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    digest: Mapped[str] = mapped_column(Digest, unique=True)
    device: Mapped[str] = mapped_column(String(32))
    device_name: Mapped[str] = mapped_column(AnyText, index=True)
    record: Mapped[Environment] = mapped_column(Json(Environment))
    ceilings: Mapped[Ceilings | None] = mapped_column(Json(Ceilings))


class RunRow(Row):
    """Metrics and kernels are rows of their own; `record` holds the rest of a `profiles.results.Run`.

    `digest` identifies the run by its content, its trial's included: equal digests say the same.
    """

    __tablename__ = "run"
    __table_args__ = (
        UniqueConstraint("trial_id", "variant"),
        Index("ix_run_trial_id_status", "trial_id", "status"),
        Index("ix_run_status_measured_at", "status", "measured_at"),
    )

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    trial_id: Mapped[int] = mapped_column(ForeignKey("trial.id"))
    variant: Mapped[str] = mapped_column(String(255))
    digest: Mapped[str] = mapped_column(Digest, index=True)
    status: Mapped[RunStatus] = mapped_column(values_of(RunStatus))
    failure_kind: Mapped[FailureKind | None] = mapped_column(values_of(FailureKind))
    failure_message: Mapped[str | None] = mapped_column(AnyText)
    environment_id: Mapped[int | None] = mapped_column(ForeignKey("environment.id"), index=True)
    trace_id: Mapped[int | None] = mapped_column(ForeignKey("trace.id"), index=True)
    record: Mapped[RunRecord] = mapped_column(Json(RunRecord))
    measured_at: Mapped[datetime] = mapped_column(Moment, default=now(), index=True)


class RunArtefactRow(Row):
    """A text file that a run's record names: it stays in the trace store."""

    __tablename__ = "run_artefact"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    sha256: Mapped[str] = mapped_column(Digest, primary_key=True, index=True)


class MetricRow(Row):
    __tablename__ = "metric"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    position: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    name: Mapped[str] = mapped_column(AnyText)
    unit: Mapped[str] = mapped_column(AnyText)
    statistic: Mapped[str] = mapped_column(AnyText)
    value: Mapped[float] = mapped_column(Float(53))
    low: Mapped[float | None] = mapped_column(Float(53))
    high: Mapped[float | None] = mapped_column(Float(53))
    interval: Mapped[str | None] = mapped_column(AnyText)
    samples: Mapped[tuple[float, ...] | None] = mapped_column(Samples)
    builds: Mapped[tuple[int, ...] | None] = mapped_column(Json(tuple[int, ...]))
    at_s: Mapped[tuple[float, ...] | None] = mapped_column(Samples)
    method: Mapped[str | None] = mapped_column(AnyText)
    doubt: Mapped[str | None] = mapped_column(AnyText)


class KernelRow(Row):
    """`role` is what its name was first read as; a run keeps its own reading."""

    __tablename__ = "kernel"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    digest: Mapped[str] = mapped_column(Digest, unique=True)  # of the name, which is too long to be indexed
    name: Mapped[str] = mapped_column(AnyText)
    role: Mapped[Role] = mapped_column(values_of(Role))


class KernelStatRow(Row):
    """One kernel in one run, per forward pass; `place` keeps the order of `Run.kernels`."""

    __tablename__ = "kernel_stat"
    __table_args__ = (Index("ix_kernel_stat_kernel_id_run_id", "kernel_id", "run_id"),)

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    place: Mapped[int] = mapped_column(Integer, primary_key=True)
    kernel_id: Mapped[int] = mapped_column(ForeignKey("kernel.id"))
    short_name: Mapped[str] = mapped_column(AnyText)
    role: Mapped[Role] = mapped_column(values_of(Role))
    stages: Mapped[tuple[str, ...]] = mapped_column(Json(tuple[str, ...]))
    calls: Mapped[int] = mapped_column(BigInteger)
    total_ns: Mapped[int] = mapped_column(BigInteger)
    min_ns: Mapped[int] = mapped_column(BigInteger)
    max_ns: Mapped[int] = mapped_column(BigInteger)
    position: Mapped[int] = mapped_column(BigInteger)
    registers: Mapped[int | None] = mapped_column(BigInteger)
    shared_bytes: Mapped[int | None] = mapped_column(BigInteger)
    grid: Mapped[tuple[int, int, int] | None] = mapped_column(Json(tuple[int, int, int]))
    block: Mapped[tuple[int, int, int] | None] = mapped_column(Json(tuple[int, int, int]))
    occupancy: Mapped[float | None] = mapped_column(Float(53))


class TraceRow(Row):
    """A recorded timeline. The raw file lies in the trace store under its SHA-256; the slices in `timeline_chunk`.

    `raw_removed_at` is since when its raw file is gone, because it was kept long enough; one that comes again counts
    as stored anew. `contents` is what it is compared by; None for one that was stored before there was such a thing."""

    __tablename__ = "trace"
    __table_args__ = (Index("ix_trace_raw_removed_at_stored_at", "raw_removed_at", "stored_at"), GIVEN_ONCE)

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    sha256: Mapped[str] = mapped_column(Digest, unique=True)
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    slices: Mapped[int] = mapped_column(BigInteger)
    raw_removed_at: Mapped[datetime | None] = mapped_column(Moment)
    health: Mapped[tuple[Finding, ...]] = mapped_column(Json(tuple[Finding, ...]))
    summary: Mapped[TraceSummary] = mapped_column(Json(TraceSummary))
    tables: Mapped[TimelineTables] = mapped_column(Json(TimelineTables), deferred=True)
    contents: Mapped[TraceContents | None] = mapped_column(Json(TraceContents), deferred=True)
    stored_at: Mapped[datetime] = mapped_column(Moment, default=now())


class TraceKernelRow(Row):
    """One kernel in the whole of a trace; `place` keeps the order of `TraceContents.kernels`."""

    __tablename__ = "trace_kernel"
    __table_args__ = (Index("ix_trace_kernel_kernel_id_trace_id", "kernel_id", "trace_id"),)

    trace_id: Mapped[int] = mapped_column(ForeignKey("trace.id"), primary_key=True)
    place: Mapped[int] = mapped_column(Integer, primary_key=True)
    kernel_id: Mapped[int] = mapped_column(ForeignKey("kernel.id"))
    short_name: Mapped[str] = mapped_column(AnyText)
    role: Mapped[Role] = mapped_column(values_of(Role))
    calls: Mapped[int] = mapped_column(BigInteger)
    total_ns: Mapped[int] = mapped_column(BigInteger)
    min_ns: Mapped[int] = mapped_column(BigInteger)
    p50_ns: Mapped[int] = mapped_column(BigInteger)
    p95_ns: Mapped[int] = mapped_column(BigInteger)
    max_ns: Mapped[int] = mapped_column(BigInteger)


class TimelineChunkRow(Row):
    """`n` slices of a trace that start between `t0` and `t1` (ns on the timeline's clock)."""

    __tablename__ = "timeline_chunk"

    trace_id: Mapped[int] = mapped_column(ForeignKey("trace.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(Integer, primary_key=True)
    t0: Mapped[int] = mapped_column(BigInteger)
    t1: Mapped[int] = mapped_column(BigInteger)
    n: Mapped[int] = mapped_column(Integer)
    codec: Mapped[str] = mapped_column(String(32))
    data: Mapped[bytes] = mapped_column(LargeBinary)


class ImportedTraceRow(Row):
    """A trace file from elsewhere; its claim is like a trial's. `spool` names the file in the store's import area until
    it is read; once it is, the trace's own place has it."""

    __tablename__ = "imported_trace"
    __table_args__ = (
        Index("ix_imported_trace_status_lease_until", "status", "lease_until"),
        GIVEN_ONCE,
    )

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    name: Mapped[str] = mapped_column(AnyText)
    file_name: Mapped[str] = mapped_column(AnyText)
    sha256: Mapped[str] = mapped_column(Digest, unique=True)
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    spool: Mapped[str | None] = mapped_column(String(64))
    status: Mapped[ImportStatus] = mapped_column(values_of(ImportStatus), default=ImportStatus.QUEUED)
    attempt: Mapped[int] = mapped_column(Integer, default=0)
    owner: Mapped[str | None] = mapped_column(Text)
    lease_until: Mapped[datetime | None] = mapped_column(Moment)
    failure_kind: Mapped[ImportFailureKind | None] = mapped_column(values_of(ImportFailureKind))
    failure_message: Mapped[str | None] = mapped_column(AnyText)
    trace_id: Mapped[int | None] = mapped_column(ForeignKey("trace.id"), index=True)
    submitted_by: Mapped[str | None] = mapped_column(AnyText)
    submitted_at: Mapped[datetime] = mapped_column(Moment, default=now(), index=True)
    published_at: Mapped[datetime] = mapped_column(Moment, default=now())
    started_at: Mapped[datetime | None] = mapped_column(Moment)
    ended_at: Mapped[datetime | None] = mapped_column(Moment)


class ComparisonRow(Row):
    """`kind` says what it shows: entries, which are of runs, or traces."""

    __tablename__ = "comparison"
    __table_args__ = GIVEN_ONCE

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    job_id: Mapped[int | None] = mapped_column(ForeignKey("job.id"), unique=True)
    kind: Mapped[ComparisonKind] = mapped_column(values_of(ComparisonKind), default=ComparisonKind.RUNS)
    name: Mapped[str] = mapped_column(AnyText)
    view: Mapped[ViewState] = mapped_column(Json(ViewState), default=ViewState())
    answer: Mapped[str | None] = mapped_column(AnyText)
    created_by: Mapped[str | None] = mapped_column(AnyText)
    created_at: Mapped[datetime] = mapped_column(Moment, default=now(), index=True)


class EntryRow(Row):
    """A variant of a trial, and so its run once there is one. A retry's trial takes the place of the old one."""

    __tablename__ = "comparison_entry"
    __table_args__ = (
        UniqueConstraint("comparison_id", "key"),
        Index("ix_comparison_entry_trial_id_variant_comparison_id", "trial_id", "variant", "comparison_id"),
    )

    comparison_id: Mapped[int] = mapped_column(ForeignKey("comparison.id"), primary_key=True)
    position: Mapped[int] = mapped_column(Integer, primary_key=True)
    key: Mapped[str] = mapped_column(String(8))
    trial_id: Mapped[int] = mapped_column(ForeignKey("trial.id"))
    variant: Mapped[str] = mapped_column(String(255))


class ComparedTraceRow(Row):
    """One trace of a comparison of traces: an imported one, or that of a measured run."""

    __tablename__ = "compared_trace"
    __table_args__ = (UniqueConstraint("comparison_id", "key"),)

    comparison_id: Mapped[int] = mapped_column(ForeignKey("comparison.id"), primary_key=True)
    position: Mapped[int] = mapped_column(Integer, primary_key=True)
    key: Mapped[str] = mapped_column(String(8))
    imported_trace_id: Mapped[int | None] = mapped_column(ForeignKey("imported_trace.id"), index=True)
    run_id: Mapped[int | None] = mapped_column(ForeignKey("run.id"), index=True)


class ShareLinkRow(Row):
    """`scope` is what the token opens: a comparison, here its only kind. The token itself is stored nowhere.

    `view` is the link's own: no other link changes what this one shows.
    """

    __tablename__ = "share_link"
    __table_args__ = GIVEN_ONCE

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    token_hash: Mapped[str] = mapped_column(Digest, unique=True)
    hint: Mapped[str] = mapped_column(String(8))
    scope: Mapped[str] = mapped_column(String(32))
    comparison_id: Mapped[int] = mapped_column(ForeignKey("comparison.id"), index=True)
    view: Mapped[ViewState] = mapped_column(Json(ViewState))
    note: Mapped[str | None] = mapped_column(AnyText)
    show_hosts: Mapped[bool] = mapped_column(Boolean)
    created_by: Mapped[str | None] = mapped_column(AnyText)
    created_at: Mapped[datetime] = mapped_column(Moment, default=now())
    expires_at: Mapped[datetime | None] = mapped_column(Moment)
    revoked_at: Mapped[datetime | None] = mapped_column(Moment)
    opened: Mapped[int] = mapped_column(Integer, default=0)


class WorkerRow(Row):
    __tablename__ = "worker"

    name: Mapped[str] = mapped_column(String(255), primary_key=True)
    capabilities: Mapped[Capabilities] = mapped_column(Json(Capabilities))
    started_at: Mapped[datetime] = mapped_column(Moment, default=now())
    seen_at: Mapped[datetime] = mapped_column(Moment, default=now())
