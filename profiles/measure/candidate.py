"""A variant on its way through a session, and the run that it becomes."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec

from profiles.measure import loading, nvml
from profiles.measure.beforehand import Beforehand
from profiles.measure.gpu_time import GatedTimer
from profiles.measure.loading import OperationModule
from profiles.measure.metrics import rate_metric, single_metric, time_metric
from profiles.measure.rounds import Pace
from profiles.measure.subject import Subject
from profiles.results import Conditions, Correctness, Failure, FailureKind, Metric, Receipt, Run, RunStatus
from profiles.workload import Workload


@dataclass(slots=True)
class Candidate:
    """What is known so far; times in ns. `seconds_per_call` is how long a call took last, roughly."""

    subject: Subject
    beforehand: Beforehand = field(default_factory=Beforehand)
    receipt: Receipt | None = None
    correctness: Correctness | None = None
    seconds_per_call: float = 0.0
    pace: Pace | None = None
    gated: GatedTimer | None = None
    call_ns: list[float] = field(default_factory=list)
    gpu_ns: list[float] = field(default_factory=list)
    gpu_state: nvml.GpuState = field(default_factory=nvml.GpuState)
    peak_bytes: int | None = None
    started_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    spent_s: float = 0.0

    @property
    def variant(self) -> str:
        return self.subject.variant

    @property
    def so_far(self) -> str | None:
        """The principal time for people who watch."""
        times = sorted(self.gpu_ns or self.call_ns)
        return f"{times[len(times) // 2] / 1e3:,.1f} µs" if times else None


def succeeded(candidate: Candidate, module: OperationModule, workload: Workload) -> Run:
    metrics = tuple(_metrics(candidate, module, workload))
    costs = loading.costs(module, workload, candidate.variant)
    return Run(variant=candidate.variant, status=RunStatus.SUCCEEDED, metrics=metrics, costs=costs)


def incorrect(variant: str, correctness: Correctness) -> Run:
    message = correctness.reason or "its output does not pass"
    failure = Failure(kind=FailureKind.INCORRECT, message=message)
    return Run(variant=variant, status=RunStatus.INCORRECT, failure=failure)


def with_circumstances(run: Run, candidate: Candidate) -> Run:
    """The run with what is known of the candidate whatever became of it."""
    conditions = Conditions(
        host=socket.gethostname(),
        started_at=candidate.started_at,
        duration_s=round(candidate.spent_s, 3),
        sm_clock_mhz=candidate.gpu_state.sm_clock_mhz,
        temperature_c=candidate.gpu_state.temperature_c,
    )
    return msgspec.structs.replace(
        run,
        correctness=candidate.correctness,
        receipt=candidate.receipt,
        conditions=conditions,
        visits=candidate.beforehand.walked,
        notes=candidate.beforehand.notes,
    )


def _metrics(candidate: Candidate, module: OperationModule, workload: Workload) -> Iterator[Metric]:
    """The device's time first where there is one. It rates work and traffic; back-to-back calls rate throughput."""
    doubt = candidate.pace.doubt if candidate.pace is not None else None
    steady = time_metric("call_time", candidate.call_ns, doubt=doubt)
    principal = steady
    if candidate.gated is not None:
        principal = time_metric("gpu_time", candidate.gpu_ns, doubt=candidate.gated.doubt or doubt)
        yield principal
    yield steady
    yield from candidate.beforehand.metrics()
    if candidate.peak_bytes is not None:
        yield single_metric("peak_memory", "bytes", candidate.peak_bytes, statistic="max")
    if (tokens := module.tokens(workload)) is not None:
        yield rate_metric("tokens_per_s", "tokens/s", amount=tokens, time=steady)
    yield from _rates(principal, module, workload)


def _rates(time: Metric, module: OperationModule, workload: Workload) -> Iterator[Metric]:
    if (flops := module.useful_flops(workload)) is not None:
        yield rate_metric("useful_tflops", "TFLOP/s", amount=flops / 1e12, time=time)
    yield rate_metric("effective_bandwidth", "GB/s", amount=module.least_bytes(workload) / 1e9, time=time)
