"""What a measurement says, as typed records: the JSON of `fusescope run`, of bundles and of the database.

Fields may be added, never change their meaning; what is unknown is None. No torch here.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from profiles.ceilings import Ceilings, Costs
from profiles.compilation import Artefact, Compilation
from profiles.environment import Environment
from profiles.plan import Plan
from profiles.recorded import KernelCauses, Recorded
from profiles.verdict import VariantComparison
from profiles.visits import Walked
from profiles.workload import Workload

SCHEMA = 1


class RunStatus(StrEnum):
    SUCCEEDED = "succeeded"
    INCORRECT = "incorrect"
    REFUSED = "refused"
    FAILED = "failed"
    CANCELLED = "cancelled"


class FailureKind(StrEnum):
    UNSUPPORTED = "unsupported"
    INCORRECT = "incorrect"
    OUT_OF_MEMORY = "out_of_memory"
    CRASHED = "crashed"
    TIMEOUT = "timeout"
    WORKER_LOST = "worker_lost"
    TRACE_LOST = "trace_lost"
    INTERNAL = "internal"


class Role(StrEnum):
    """What a kernel does (copies and fills are no kernels, but are drawn beside them)."""

    GEMM = "gemm"
    ATTENTION = "attention"
    SOFTMAX = "softmax"
    NORM = "norm"
    POINTWISE = "pointwise"
    REDUCTION = "reduction"
    COPY = "copy"
    FILL = "fill"
    COMMUNICATION = "communication"
    HELPER = "helper"
    OTHER = "other"


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    kind: FailureKind
    message: str


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """One number of a run.

    Times are in ns, memory in bytes. `low` and `high` bound the interval that `interval` names (`p25-p75`: the
    spread of the samples, no confidence interval; `min-max`). A metric in doubt says why in `doubt`. `builds` tells of
    each sample in which build it was taken, `at_s` when, in seconds since the trial's timing began; `method` names how
    a time was taken where a metric knows several ways.
    """

    name: str
    unit: str
    statistic: str
    value: float
    low: float | None = None
    high: float | None = None
    interval: str | None = None
    samples: tuple[float, ...] | None = None
    builds: tuple[int, ...] | None = None
    at_s: tuple[float, ...] | None = None
    method: str | None = None
    doubt: str | None = None


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Per forward pass, each kind apart, by launch; None where the trace cannot tell, with a finding that says why.

    `operators` counts compute operators on a CPU, where there are no kernels. `unstable` lists the kernel (on a CPU:
    operator) counts of the traced steps where equal steps differ.
    """

    kernels: int | None = None
    memcpy: int | None = None
    memset: int | None = None
    launches: int | None = None
    graph_launches: int | None = None
    operators: int | None = None
    unstable: tuple[int, ...] | None = None


class Correctness(msgspec.Struct, frozen=True, kw_only=True):
    """Against the float64 reference; `tolerance` is the relative L2 error that passes.

    A row is the last axis of an output. `row_error` is the worst row's error against the size that its row usually
    has, `row_allowed` what passes, `rows_wrong` how many do not; `plain_error` is the relative L2 error of the plain
    computation in the same dtype. `repeats` calls gave bitwise equal outputs or not (`deterministic`). `reason` says
    what did not pass.
    """

    relative_l2: float | None
    max_abs: float | None
    nonfinite: int
    tolerance: float
    passed: bool
    rows: int | None = None
    rows_wrong: int | None = None
    row_error: float | None = None
    row_allowed: float | None = None
    plain_error: float | None = None
    deterministic: bool | None = None
    repeats: int | None = None
    reason: str | None = None


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """Which backend was asked for, which ran (by the kernels seen), and why each other one was not eligible.

    `mechanism` is who chose: `sdpa`, `compile`, `cuda_graph`, `kernelize`. `detail` says why it fell back. `versions`
    are those that the choice depends on.
    """

    asked: str
    ran: str | None
    fell_back: bool = False
    order: tuple[str, ...] | None = None
    refusals: dict[str, str] = {}
    detail: str | None = None
    mechanism: str = "sdpa"
    versions: dict[str, str] = {}


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is missing or impossible in a trace."""

    code: str
    message: str
    count: int
    doubtful: tuple[str, ...] = ()


class KernelUse(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel, copy, fill or (on a CPU) compute operator of a forward pass.

    `calls` is per forward; the times are sums over those calls, in ns: the median, least and greatest of the traced
    steps. `stages` are the stages of the operation's maths that it covers, empty where unknown. `position` orders the
    uses by first launch within the forward pass. Registers (per thread), shared memory (bytes per block), grid, block
    and occupancy (a share, as estimated by the recorder) are those of its longest call, None where not reported.
    """

    name: str
    short_name: str
    role: Role
    stages: tuple[str, ...]
    calls: int
    total_ns: int
    min_ns: int
    max_ns: int
    position: int
    registers: int | None = None
    shared_bytes: int | None = None
    grid: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    occupancy: float | None = None


class DeepKernel(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel under NVIDIA's Nsight Compute: shares of the device's peak in percent, DRAM traffic in bytes."""

    name: str
    duration_ns: float | None = None
    compute_percent: float | None = None
    memory_percent: float | None = None
    dram_read_bytes: float | None = None
    dram_written_bytes: float | None = None
    occupancy_percent: float | None = None
    registers: int | None = None


class DeepProfile(msgspec.Struct, frozen=True, kw_only=True):
    """`failure` says why there are no kernels."""

    tool: str
    kernels: tuple[DeepKernel, ...] = ()
    failure: str | None = None


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """The device as found right after one block of samples: never set. `at_s` as in Metric; `throttle` lists NVML's
    reasons that are active (an idle GPU's and a set limit's are not listed)."""

    build: int
    at_s: float
    sm_clock_mhz: int | None = None
    memory_clock_mhz: int | None = None
    temperature_c: int | None = None
    power_w: float | None = None
    throttle: tuple[str, ...] = ()


class Conditions(msgspec.Struct, frozen=True, kw_only=True):
    """The circumstances of one run: no part of the environment's identity.

    `session` is a random name of the process that timed it. Runs of one session were timed in turns, those of different
    ones (an isolated plan; what was left when a variant took its process along) at different times. `window_ns` is what
    two events hold beside the work between them, as calibrated: it is taken off `gpu_time` and `graph_time`. `commit`
    is that of Fusescope itself, with a `+` where its files differed from it.
    """

    host: str | None = None
    started_at: str | None = None
    duration_s: float | None = None
    sm_clock_mhz: int | None = None
    temperature_c: int | None = None
    window_ns: float | None = None
    commit: str | None = None
    session: str | None = None


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One variant in one trial: its metrics, its trace, or its failure. `trace` is the SHA-256 of the raw file.

    `receipt` is the attention backend's; `dispatch` holds those of every other mechanism that could have fallen back.
    `twin` are the times of the same variant taken once more as if it were another one (`--aa`). `notes` say what was
    left out, and why. `causes` has one entry for each of `kernels`, in their order, or none.
    """

    variant: str
    status: RunStatus
    failure: Failure | None = None
    metrics: tuple[Metric, ...] = ()
    counts: Counts | None = None
    correctness: Correctness | None = None
    receipt: Receipt | None = None
    trace_health: tuple[Finding, ...] = ()
    kernels: tuple[KernelUse, ...] = ()
    trace: str | None = None
    conditions: Conditions | None = None
    blocks: tuple[Block, ...] = ()
    costs: Costs | None = None
    visits: Walked | None = None
    compilation: Compilation | None = None
    dispatch: tuple[Receipt, ...] = ()
    artefacts: tuple[Artefact, ...] = ()
    deep: DeepProfile | None = None
    twin: tuple[Metric, ...] = ()
    notes: tuple[str, ...] = ()
    recorded: Recorded | None = None
    causes: tuple[KernelCauses, ...] = ()

    def metric(self, name: str) -> Metric | None:
        return next((metric for metric in self.metrics if metric.name == name), None)


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """`comparisons` are each candidate's against the operation's baseline, or of a variant with itself (`--aa`)."""

    workload: Workload
    runs: tuple[Run, ...]
    comparisons: tuple[VariantComparison, ...] = ()


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """One job's outcome: what `fusescope run --json` prints and what each `results/N.json` of a bundle holds."""

    schema: int = SCHEMA
    preset: str | None
    plan: Plan
    environment: Environment
    trials: tuple[Trial, ...]
    name: str | None = None
    ceilings: Ceilings | None = None
