"""One process's work on some variants of a trial: check all, time all in shuffled rounds, then trace each."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from profiles.measure import call_time, loading, nvml
from profiles.measure.cache_flush import CacheFlush
from profiles.measure.correctness import check
from profiles.measure.device import take_device
from profiles.measure.failures import VariantError, code_of
from profiles.measure.forks import Spotlight
from profiles.measure.gate import Gate
from profiles.measure.gpu_time import GatedTimer
from profiles.measure.memory import peak_memory
from profiles.measure.messages import Outbox
from profiles.measure.metrics import rate_metric, single_metric, time_metric
from profiles.measure.probe import time_first_call
from profiles.measure.recording import record
from profiles.measure.rounds import Pace, Samples, Throttle, pace, shuffled_rounds
from profiles.measure.subject import Subject, build
from profiles.plan import CachePolicy
from profiles.protocol import Finished, MeasureSpec, Phase, Progress
from profiles.results import (
    Conditions,
    Correctness,
    Failure,
    FailureKind,
    Metric,
    Receipt,
    Run,
    RunStatus,
)
from profiles.variant import parse_variant

PROGRESS_EVERY_S = 0.2


@dataclass(slots=True)
class Candidate:
    """A variant on its way through the session, with what is known of it so far."""

    subject: Subject
    first_call_ns: int | None
    started_at: str
    receipt: Receipt | None = None
    correctness: Correctness | None = None
    seconds_per_call: float = 0.0
    samples: Samples = field(default_factory=Samples)
    pace: Pace | None = None
    gated: GatedTimer | None = None
    state: nvml.GpuState = field(default_factory=nvml.GpuState)
    spent_s: float = 0.0

    @property
    def variant(self) -> str:
        return self.subject.variant


class Session:
    """Sends `Finished` for every variant that it was given, whatever becomes of it."""

    def __init__(self, spec: MeasureSpec, *, compile_caches: Path, spotlight: Spotlight, outbox: Outbox) -> None:
        self._spec, self._compile_caches = spec, compile_caches
        self._spotlight, self._outbox = spotlight, outbox
        self._device = take_device(spec.device)
        self._module = loading.operation_module(spec.workload)
        self._throttle = Throttle(time.monotonic, PROGRESS_EVERY_S)

    @torch.no_grad()
    def measure(self, first_calls: dict[str, int | None]) -> None:
        """Measure the variants that are the keys; a first call that was not timed yet (None) is timed here.

        That is right in a fresh process with one variant alone: it is then the process's first.
        """
        candidates = [c for variant, ns in first_calls.items() if (c := self._built(variant, ns)) is not None]
        correct = [c for c in candidates if self._is_correct(c)]
        for candidate in self._timed(correct):
            self._trace_and_finish(candidate)
        self._spotlight.clear()

    # --- before timing ----------------------------------------------------------------------------------------------

    _inputs: Any = None
    _reference: tuple[torch.Tensor, ...] | None = None

    def _built(self, variant: str, first_call_ns: int | None) -> Candidate | None:
        self._spotlight.point_at(variant)
        try:
            with code_of(variant):
                if self._inputs is None:
                    self._inputs = self._module.inputs(self._spec.workload, self._device)
                subject = build(self._spec.workload, variant, self._inputs, compile_caches=self._compile_caches)
                candidate = Candidate(subject, first_call_ns, datetime.now(UTC).isoformat(timespec="seconds"))
                if first_call_ns is None:
                    with self._phase(candidate, Phase.FIRST_CALL):
                        candidate.first_call_ns = time_first_call(subject, self._device)
        except VariantError as error:
            self._outbox.send(Finished(run=error.run))
            return None
        return candidate

    def _is_correct(self, candidate: Candidate) -> bool:
        """Whether the candidate may be timed; where not, its run is sent."""
        subject = candidate.subject
        try:
            with self._phase(candidate, Phase.CORRECT), code_of(candidate.variant), subject.context():
                if self._reference is None:
                    self._reference = self._module.reference(self._inputs)
                tolerance = self._module.error_allowed(self._spec.workload)
                candidate.correctness = check(subject.call, self._reference, tolerance=tolerance)
            with code_of(candidate.variant):
                name = parse_variant(candidate.variant).implementation
                candidate.receipt = loading.receipt(self._module, name, self._inputs)
        except VariantError as error:
            self._end(candidate, error.run)
            return False
        if not candidate.correctness.passed:
            self._end(candidate, _incorrect(candidate.variant, candidate.correctness))
        return candidate.correctness.passed

    # --- timing -----------------------------------------------------------------------------------------------------

    def _timed(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Those that got through the timing."""
        self._reference = None
        ready = [c for c in candidates if self._is_warm(c, subjects=len(candidates))]
        lost: set[str] = set()
        paces = [c.pace for c in ready if c.pace is not None]
        for number, index in shuffled_rounds(paces, seed=self._spec.workload.seed):
            candidate = ready[index]
            if candidate.variant in lost:
                continue
            if number == 0 or self._throttle.due():
                self._report(candidate, done=number / paces[index].samples)
            try:
                self._take_samples(candidate, paces[index])
            except VariantError as error:
                lost.add(candidate.variant)
                self._end(candidate, error.run)
        return [c for c in ready if c.variant not in lost]

    def _is_warm(self, candidate: Candidate, *, subjects: int) -> bool:
        """Warm up; what it took sets how often the candidate is sampled."""
        try:
            with self._phase(candidate, Phase.TIMED, ends=False), code_of(candidate.variant):
                with candidate.subject.context():
                    candidate.seconds_per_call = call_time.warm_up(candidate.subject, self._device)
                if self._device.type == "cuda":
                    candidate.gated = GatedTimer(candidate.subject, self._device, self._gate(), self._flush())
        except VariantError as error:
            self._end(candidate, error.run)
            return False
        candidate.pace = pace(candidate.seconds_per_call, plan=self._spec.plan, subjects=subjects)
        return True

    def _take_samples(self, candidate: Candidate, how: Pace) -> None:
        with self._working_on(candidate), code_of(candidate.variant), candidate.subject.context():
            ns = call_time.time_block(candidate.subject, self._device, calls=how.calls)
            candidate.samples.call_ns.append(ns)
            if candidate.gated is not None:
                candidate.samples.gpu_ns.append(candidate.gated.sample())
                candidate.state = (
                    nvml.gpu_state(self._device) if len(candidate.samples.gpu_ns) == how.samples else candidate.state
                )

    _the_gate: Gate | None = None
    _the_flush: CacheFlush | None = None

    def _gate(self) -> Gate:
        self._the_gate = self._the_gate or Gate()
        return self._the_gate

    def _flush(self) -> CacheFlush | None:
        if self._spec.plan.cache is CachePolicy.COLD:
            self._the_flush = self._the_flush or CacheFlush(self._device)
        return self._the_flush

    # --- after timing -----------------------------------------------------------------------------------------------

    def _trace_and_finish(self, candidate: Candidate) -> None:
        self._progress(candidate, Phase.TIMED, 1.0, so_far=_median_text(candidate.samples))
        trace = f"{candidate.variant.replace('@', '_')}.json.gz"
        try:
            with self._phase(candidate, Phase.TRACED), code_of(candidate.variant):
                record(candidate.subject, self._device, Path(self._spec.directory) / trace, steps=self._spec.plan.steps)
                memory = peak_memory(candidate.subject, self._device)
        except VariantError as error:
            self._end(candidate, error.run)
            return
        metrics = (*self._metrics(candidate), single_metric("peak_memory", "bytes", memory, statistic="max"))
        run = Run(variant=candidate.variant, status=RunStatus.SUCCEEDED, metrics=metrics)
        self._end(candidate, run, trace_file=trace)

    def _metrics(self, candidate: Candidate) -> Iterator[Metric]:
        doubt = candidate.pace.doubt if candidate.pace is not None else None
        principal = calls = time_metric("call_time", candidate.samples.call_ns, doubt=doubt)
        if candidate.gated is not None:
            gpu_doubt = candidate.gated.doubt or doubt
            principal = time_metric("gpu_time", candidate.samples.gpu_ns, doubt=gpu_doubt)
            yield principal
        yield calls
        if candidate.first_call_ns is not None:
            yield single_metric("first_call", "ns", candidate.first_call_ns)
        yield from self._rates(principal)

    def _rates(self, time: Metric) -> Iterator[Metric]:
        """From the device's time where there is one, else from the calls': the statistic says which."""
        workload = self._spec.workload
        if (tokens := self._module.tokens(workload)) is not None:
            yield rate_metric("tokens_per_s", "tokens/s", amount=tokens, time=time)
        if (flops := self._module.useful_flops(workload)) is not None:
            yield rate_metric("useful_tflops", "TFLOP/s", amount=flops / 1e12, time=time)
        yield rate_metric("effective_bandwidth", "GB/s", amount=self._module.least_bytes(workload) / 1e9, time=time)

    # --- what is said -----------------------------------------------------------------------------------------------

    @contextmanager
    def _phase(self, candidate: Candidate, phase: Phase, *, ends: bool = True) -> Iterator[None]:
        self._progress(candidate, phase, 0.0)
        with self._working_on(candidate):
            yield
        if ends:
            self._progress(candidate, phase, 1.0)

    @contextmanager
    def _working_on(self, candidate: Candidate) -> Iterator[None]:
        """The spotlight tells whose fault it is should this process die; the time spent goes to the candidate."""
        self._spotlight.point_at(candidate.variant)
        start = time.monotonic()
        try:
            yield
        finally:
            candidate.spent_s += time.monotonic() - start

    def _report(self, candidate: Candidate, *, done: float) -> None:
        self._progress(candidate, Phase.TIMED, done, so_far=_median_text(candidate.samples))

    def _progress(self, candidate: Candidate, phase: Phase, done: float, *, so_far: str | None = None) -> None:
        self._outbox.send(Progress(variant=candidate.variant, phase=phase, done=done, so_far=so_far))

    def _end(self, candidate: Candidate, run: Run, *, trace_file: str | None = None) -> None:
        """Send the run with everything else that is known of the candidate."""
        state = candidate.state
        conditions = Conditions(
            host=socket.gethostname(),
            started_at=candidate.started_at,
            duration_s=round(candidate.spent_s, 3),
            sm_clock_mhz=state.sm_clock_mhz,
            temperature_c=state.temperature_c,
        )
        complete = Run(
            variant=run.variant,
            status=run.status,
            failure=run.failure,
            metrics=run.metrics,
            correctness=candidate.correctness,
            receipt=candidate.receipt,
            conditions=conditions,
        )
        self._outbox.send(Finished(run=complete, trace_file=trace_file))


def _incorrect(variant: str, correctness: Correctness) -> Run:
    if correctness.nonfinite:
        message = f"{correctness.nonfinite:,} elements of the output are NaN or infinite"
    else:
        message = f"relative L2 error {correctness.relative_l2:.3g}, at most {correctness.tolerance:.3g} passes"
    failure = Failure(kind=FailureKind.INCORRECT, message=message)
    return Run(variant=variant, status=RunStatus.INCORRECT, failure=failure)


def _median_text(samples: Samples) -> str | None:
    times = samples.gpu_ns or samples.call_ns
    if not times:
        return None
    return f"{sorted(times)[len(times) // 2] / 1e3:,.1f} µs"
