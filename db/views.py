"""What the database shows to its readers: frozen values, never rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Generic, TypeVar

from profiles.ceilings import Ceilings
from profiles.environment import Environment
from profiles.job import JobRequest
from profiles.plan import Plan
from profiles.protocol import Phase
from profiles.results import Failure, Run
from profiles.trace.contents import TraceContents
from profiles.trace.summary import TraceSummary
from profiles.worker import Capabilities
from profiles.workload import Workload

Item = TypeVar("Item")


class TrialStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class JobStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class ImportStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class ImportFailureKind(StrEnum):
    """`unreadable`: the file gives no trace, or is of another kind; `too_large`: past one of the limits."""

    UNREADABLE = "unreadable"
    TOO_LARGE = "too_large"
    WORKER_LOST = "worker_lost"
    INTERNAL = "internal"


class ComparisonKind(StrEnum):
    RUNS = "runs"
    TRACES = "traces"


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantProgress:
    """Where one variant of a running trial is: the phases it passed, the one it is in, its run once that has ended.

    The run is here without samples, kernels and blocks; `GET /runs/{run_id}` and comparisons have it whole.
    """

    variant: str
    passed: tuple[Phase, ...] = ()
    current: Phase | None = None
    so_far: str | None = None
    run: Run | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialView:
    """`attempt` counts claims; `retry_of` names the trial that this one tries again. Times are UTC, aware."""

    id: int
    job_id: int
    workload: Workload
    variants: tuple[str, ...]
    status: TrialStatus
    attempt: int
    retry_of: int | None
    owner: str | None
    failure: Failure | None
    cancel_requested: bool
    queued_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    progress: tuple[VariantProgress, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    """A job with its trials; the status is derived from theirs. `comparison_id` is made with the job."""

    id: int
    request: JobRequest
    status: JobStatus
    submitted_by: str | None
    submitted_at: datetime
    trials: tuple[TrialView, ...]
    comparison_id: int

    @property
    def failures(self) -> tuple[tuple[str, Failure], ...]:
        """(variant, failure) of every run that has one and was not refused, in the trials' order."""
        return tuple(
            (p.variant, p.run.failure)
            for trial in self.trials
            for p in trial.progress
            if p.run is not None and p.run.failure is not None and p.run.status != "refused"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRun:
    """One row of a comparison. `key` (A, B … Z, AA …) is fixed when the comparison is made.

    `run` is None while it is not measured yet; `trial_status` then says whether it still may be. `ceilings` are those
    of the environment. `raw_removed_at`: since when the raw file of its trace is no longer kept.
    """

    key: str
    variant: str
    run_id: int | None
    run: Run | None
    trial_id: int
    trial_status: TrialStatus
    workload: Workload
    plan: Plan
    environment: Environment | None
    measured_at: datetime | None
    has_timeline: bool
    ceilings: Ceilings | None = None
    raw_removed_at: datetime | None = None

    @property
    def pending(self) -> bool:
        """Whether it is not measured yet, but still may be."""
        return self.run is None and self.trial_status in (TrialStatus.QUEUED, TrialStatus.RUNNING)


@dataclass(frozen=True, slots=True)
class ViewState:
    """What a comparison, or a link to it, opens with when the address says nothing else: the saved view."""

    base: str | None = None
    by: str = "gpu_time"
    lanes: tuple[str, ...] = ()
    zoom: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportFailure:
    """Why a file gave no trace; `message` is for people."""

    kind: ImportFailureKind
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTrace:
    """A trace file from elsewhere. `name` is what people call it, `file_name` what it was called when it came.

    `trace_id` and `summary` are None until it is read; `comparison_id` is the first comparison that shows it.
    `raw_removed_at`: since when its raw file is no longer kept.
    """

    id: int
    name: str
    file_name: str
    sha256: str
    size_bytes: int
    status: ImportStatus
    attempt: int
    failure: ImportFailure | None
    trace_id: int | None
    summary: TraceSummary | None
    comparison_id: int | None
    submitted_by: str | None
    submitted_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    raw_removed_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedTrace:
    """One trace of a comparison of traces: `imported`, or that of the run `run_id` of `variant`.

    `label` is unique within the comparison. `summary`, `contents` and `trace_id` are None until it is read; `contents`
    also where the trace was stored before there was such a thing.
    """

    key: str
    label: str
    imported: ImportedTrace | None
    run_id: int | None
    variant: str | None
    trace_id: int | None
    summary: TraceSummary | None
    contents: TraceContents | None
    has_timeline: bool
    status: ImportStatus
    failure: ImportFailure | None

    @property
    def pending(self) -> bool:
        """Whether it is not read yet, but still may be."""
        return self.status in (ImportStatus.QUEUED, ImportStatus.RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonView:
    """A saved comparison, of runs (`entries`) or of traces. `status` is None where no job makes it (selected or
    imported runs)."""

    id: int
    name: str
    created_at: datetime
    created_by: str | None
    job_id: int | None
    status: JobStatus | None
    entries: tuple[ComparedRun, ...]
    view: ViewState = field(default_factory=ViewState)
    kind: ComparisonKind = ComparisonKind.RUNS
    traces: tuple[ComparedTrace, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonSummary:
    """One line of History: `answer` is the stored plain-text answer, None until something was measured.

    Of a comparison of traces `runs` counts its traces, `succeeded` those that are read; `operation` is empty and
    `workload` lists their labels.
    """

    id: int
    name: str
    operation: str
    workload: str
    answer: str | None
    runs: int
    succeeded: int
    incorrect: int
    failed: int
    status: JobStatus | None
    device_name: str | None
    device: str | None
    created_by: str | None
    created_at: datetime
    kind: ComparisonKind = ComparisonKind.RUNS


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """One line of the list of all runs; times in ns, None where not measured."""

    id: int
    variant: str
    operation: str
    workload: str
    status: str
    failure: Failure | None
    gpu_time_ns: float | None
    call_time_ns: float | None
    kernels: int | None
    kernels_doubt: str | None
    device_name: str | None
    torch: str | None
    measured_at: datetime
    comparison_id: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[Item]):
    """One page of a longer list; `total` counts all pages' items."""

    items: tuple[Item, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryFilter:
    """Filters of History; None means any. `search` matches names, variants and kernel names."""

    search: str | None = None
    operation: str | None = None
    device_name: str | None = None
    status: str | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerView:
    """`alive` by the database's clock: heard from within 15 s. `trial_id` is what it measures now."""

    name: str
    capabilities: Capabilities
    started_at: datetime
    seen_at: datetime
    alive: bool
    trial_id: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareLink:
    """A link as its maker sees it again: never the token, only its hash is stored; `hint` is its last four letters."""

    id: int
    comparison_id: int
    hint: str
    view: ViewState
    note: str | None
    show_hosts: bool
    created_at: datetime
    created_by: str | None
    expires_at: datetime | None
    revoked_at: datetime | None
    opened: int
