"""One process's work on some variants of a trial: check all, time all, then trace each."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch

from profiles import catalog
from profiles.measure import loading
from profiles.measure.beforehand import Beforehand
from profiles.measure.candidate import Candidate, incorrect, succeeded
from profiles.measure.compile_report import after_first_call
from profiles.measure.correctness import check
from profiles.measure.deep import deep_profile
from profiles.measure.device import take_device
from profiles.measure.failures import VariantError, YardstickError, after_timing, code_of
from profiles.measure.memory import call_memory
from profiles.measure.recording import record
from profiles.measure.refusal import explained
from profiles.measure.reporter import Reporter
from profiles.measure.subject import Subject, build
from profiles.measure.timing import Timing
from profiles.measure.visit import time_visit, visit_new_shape
from profiles.measure.yardstick import Yardstick, yardstick
from profiles.protocol import MeasureSpec, Phase
from profiles.results import Run
from profiles.variant import parse_variant


class Session:
    """Sends `Finished` for every variant that it was given, whatever becomes of it."""

    def __init__(
        self, spec: MeasureSpec, reporter: Reporter, *, compile_caches: Path, window_ns: float | None = None
    ) -> None:
        self._spec, self._workload, self._reporter = spec, spec.workload, reporter
        self._compile_caches = compile_caches
        self._window_ns = window_ns
        self._device = take_device(spec.device)
        self._name = uuid.uuid4().hex[:12]
        self._module = loading.operation_module(spec.workload)
        self._inputs: Any = None
        self._yardstick: Yardstick | YardstickError | None = None

    @torch.no_grad()
    def measure(self, variants: dict[str, Beforehand]) -> None:
        """Measure the variants that are the keys; a first call that was not timed yet is timed here.

        That is right in a fresh process with one variant alone: it is then the process's first.
        """
        built = [c for variant, beforehand in variants.items() for c in self._built(variant, beforehand)]
        correct = [candidate for candidate in built if self._is_correct(candidate)]
        self._yardstick = None
        self._time_and_trace(correct)

    def _built(self, variant: str, beforehand: Beforehand) -> Sequence[Candidate]:
        """The candidate, or nothing when it could not be built: its run is then sent."""
        try:
            with code_of(variant):
                candidate = Candidate(self._subject(variant), beforehand, session=self._name)
                if beforehand.first_call_ns is None:
                    with self._reporter.phase(candidate, Phase.FIRST_CALL):
                        self._make_first_visits(candidate)
        except VariantError as error:
            self._reporter.never_began(explained(error.run, self._module, self._inputs))
            return ()
        return (candidate,)

    def _make_first_visits(self, candidate: Candidate) -> None:
        known, subject = candidate.beforehand, candidate.subject
        known.first_call_ns = time_visit(subject, self._device)
        known.compiled = after_first_call(subject, Path(self._spec.directory))
        known.new_shape = visit_new_shape(
            subject, self._module, self._workload, device=self._device, first_call_ns=known.first_call_ns
        )

    def _subject(self, variant: str, *, twin: bool = False) -> Subject:
        if self._inputs is None:
            self._inputs = self._module.inputs(self._workload, self._device)
        caches = self._compile_caches
        return build(self._workload, variant, self._inputs, device=self._device, compile_caches=caches, twin=twin)

    def _is_correct(self, candidate: Candidate) -> bool:
        """Whether the candidate may be timed; where not, its run is sent."""
        try:
            with self._reporter.phase(candidate, Phase.CORRECT), code_of(candidate.variant):
                self._compare(candidate)
        except VariantError as error:
            self._reporter.finish(candidate, error.run)
            return False
        assert candidate.correctness is not None
        if not candidate.correctness.passed:
            self._reporter.finish(candidate, incorrect(candidate.variant, candidate.correctness))
        return candidate.correctness.passed

    def _compare(self, candidate: Candidate) -> None:
        measure = self._known_yardstick()
        with candidate.subject.context():
            candidate.correctness = check(candidate.subject.call, measure)
        name = parse_variant(candidate.variant).implementation
        candidate.receipt = loading.receipt(self._module, name, self._inputs)

    def _known_yardstick(self) -> Yardstick:
        """Made for the first candidate; where that fails it fails alike for all."""
        if self._yardstick is None:
            try:
                self._yardstick = yardstick(self._module, self._workload, self._inputs)
            except YardstickError as error:
                self._yardstick = error
        if isinstance(self._yardstick, YardstickError):
            raise self._yardstick
        return self._yardstick

    def _time_and_trace(self, candidates: Sequence[Candidate]) -> None:
        if self._spec.twins:
            for candidate in candidates:
                candidate.twin = Candidate(self._subject(candidate.variant, twin=True))
        timed: list[Candidate] = []
        if candidates:
            timing = Timing(self._device, self._spec.plan, self._reporter, window_ns=self._window_ns or 0.0)
            baseline = catalog.operation(self._workload.operation).baseline
            for candidate in timing.time(candidates, seed=self._workload.seed, inputs=self._inputs, baseline=baseline):
                self._reporter.timed(candidate, succeeded(candidate, self._module, self._workload))
                timed.append(candidate)
        for candidate in timed:
            try:
                file = self._trace(candidate)
            except VariantError as error:
                self._reporter.finish(candidate, error.run)
            else:
                self._reporter.finish(candidate, succeeded(candidate, self._module, self._workload), trace_file=file)

    @torch.no_grad()
    def trace(self, timed: dict[str, Run]) -> None:
        """Complete the runs of variants that were timed in a process that died when it traced another."""
        for variant, run in timed.items():
            for candidate in self._built(variant, Beforehand(first_call_ns=0)):
                try:
                    file = self._trace(candidate)
                except VariantError as error:
                    self._reporter.traced_later(after_timing(run, error.run))
                else:
                    memory = candidate.memory.metrics() if candidate.memory is not None else ()
                    whole = msgspec.structs.replace(run, metrics=(*run.metrics, *memory), deep=candidate.deep)
                    self._reporter.traced_later(whole, trace_file=file)

    def _trace(self, candidate: Candidate) -> str:
        """The last step, after which the candidate's run is complete: the trace's file."""
        file = f"{candidate.variant.replace('@', '_')}.json.gz"
        path = Path(self._spec.directory) / file
        with self._reporter.phase(candidate, Phase.TRACED), code_of(candidate.variant):
            note = record(candidate.subject, self._device, path, steps=self._spec.plan.steps)
            candidate.times.notes += [note] if note is not None else []
            candidate.memory = call_memory(candidate.subject, self._device)
            if self._spec.plan.deep and self._device.type == "cuda":
                candidate.deep = deep_profile(self._spec, candidate.variant)
        return file
