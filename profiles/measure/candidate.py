"""A variant on its way through a session, and the run that it becomes."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec

from profiles.measure import loading
from profiles.measure.beforehand import Beforehand
from profiles.measure.builds import Place
from profiles.measure.compile_report import so_far
from profiles.measure.dispatch import dispatch_receipts
from profiles.measure.loading import OperationModule
from profiles.measure.memory import Memory
from profiles.measure.metrics import rate_metric
from profiles.measure.rounds import Pace
from profiles.measure.subject import Subject
from profiles.measure.times import Times
from profiles.results import Conditions, Correctness, DeepProfile, Failure, FailureKind, Metric, Receipt, Run, RunStatus
from profiles.revision import revision
from profiles.workload import Workload


@dataclass(slots=True)
class Candidate:
    """What is known so far. `twin` is the same variant once more, timed as if it were another one."""

    subject: Subject
    beforehand: Beforehand = field(default_factory=Beforehand)
    receipt: Receipt | None = None
    correctness: Correctness | None = None
    times: Times = field(default_factory=Times)
    memory: Memory | None = None
    twin: Candidate | None = None
    session: str | None = None
    deep: DeepProfile | None = None
    started_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    spent_s: float = 0.0

    @property
    def variant(self) -> str:
        return self.subject.variant

    @property
    def so_far(self) -> str | None:
        return self.times.so_far


def place_of(candidate: Candidate) -> Place:
    assert candidate.times.place is not None, "a sweep places its candidates first"
    return candidate.times.place


def pace_of(candidate: Candidate) -> Pace:
    assert candidate.times.pace is not None, "the warm-up sets it"
    return candidate.times.pace


def succeeded(candidate: Candidate, module: OperationModule, workload: Workload) -> Run:
    metrics = tuple(_metrics(candidate, module, workload))
    costs = loading.costs(module, workload, candidate.variant)
    twin = () if candidate.twin is None else tuple(candidate.twin.times.metrics())
    return Run(
        variant=candidate.variant,
        status=RunStatus.SUCCEEDED,
        metrics=metrics,
        costs=costs,
        twin=twin,
        deep=candidate.deep,
    )


def incorrect(variant: str, correctness: Correctness) -> Run:
    message = correctness.reason or "its output does not pass"
    failure = Failure(kind=FailureKind.INCORRECT, message=message)
    return Run(variant=variant, status=RunStatus.INCORRECT, failure=failure)


def with_circumstances(run: Run, candidate: Candidate) -> Run:
    """The run with what is known of the candidate whatever became of it."""
    gated = candidate.times.gated
    conditions = Conditions(
        host=socket.gethostname(),
        session=candidate.session,
        started_at=candidate.started_at,
        duration_s=round(candidate.spent_s, 3),
        sm_clock_mhz=candidate.times.observer.state.sm_clock_mhz,
        temperature_c=candidate.times.observer.state.temperature_c,
        window_ns=gated.window_ns if gated is not None else None,
        commit=revision(),
    )
    compiled = candidate.beforehand.compiled
    compilation = so_far(candidate.subject, compiled)
    return msgspec.structs.replace(
        run,
        compilation=compilation,
        dispatch=dispatch_receipts(candidate.variant, compilation),
        artefacts=compiled.artefacts if compiled is not None else (),
        correctness=candidate.correctness,
        receipt=candidate.receipt,
        conditions=conditions,
        visits=candidate.beforehand.walked,
        notes=(*candidate.beforehand.notes, *candidate.times.all_notes),
        blocks=tuple(candidate.times.observer.blocks),
    )


def _metrics(candidate: Candidate, module: OperationModule, workload: Workload) -> Iterator[Metric]:
    """The times first, the device's own before all. It rates work and traffic; back-to-back calls rate throughput."""
    times = {metric.name: metric for metric in candidate.times.metrics()}
    yield from times.values()
    yield from candidate.beforehand.metrics()
    if candidate.memory is not None:
        yield from candidate.memory.metrics()
    steady = times["call_time"]
    if (tokens := module.tokens(workload)) is not None:
        yield rate_metric("tokens_per_s", "tokens/s", amount=tokens, time=steady)
    yield from _rates(times.get("gpu_time", steady), module, workload)


def _rates(time: Metric, module: OperationModule, workload: Workload) -> Iterator[Metric]:
    if (flops := module.useful_flops(workload)) is not None:
        yield rate_metric("useful_tflops", "TFLOP/s", amount=flops / 1e12, time=time)
    yield rate_metric("effective_bandwidth", "GB/s", amount=module.least_bytes(workload) / 1e9, time=time)
