"""Times the candidates of a session together, profiler off: warm-up, then shuffled rounds within the budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import torch

from profiles.measure import call_time, nvml
from profiles.measure.cache_flush import CacheFlush
from profiles.measure.candidate import Candidate
from profiles.measure.failures import VariantError, code_of
from profiles.measure.gate import Gate
from profiles.measure.gpu_time import GatedTimer
from profiles.measure.reporter import Reporter
from profiles.measure.rounds import LEAST_SAMPLES, Pace, pace, shuffled_rounds
from profiles.plan import CachePolicy, Plan
from profiles.protocol import Phase


class Timing:
    """One use per process: the gate is calibrated and the flush allocated once."""

    def __init__(self, device: torch.device, plan: Plan, reporter: Reporter) -> None:
        self._device, self._plan, self._reporter = device, plan, reporter
        self._gate = Gate() if device.type == "cuda" else None
        cold = self._gate is not None and plan.cache is CachePolicy.COLD
        self._flush = CacheFlush(device) if cold else None

    def time(self, candidates: Sequence[Candidate], *, seed: int) -> list[Candidate]:
        """Those that got through, with their samples; the runs of the others are sent."""
        warm = [c for c in candidates if self._does(c, lambda c: self._warm_up(c, subjects=len(candidates)))]
        paces = [_pace_of(c) for c in warm]
        lost: set[str] = set()
        deadline = time.monotonic() + self._plan.budget_s
        for number, index in shuffled_rounds(paces, seed=seed):
            if number >= LEAST_SAMPLES and time.monotonic() > deadline:
                break
            candidate = warm[index]
            if candidate.variant not in lost:
                self._announce(candidate, number)
                if not self._does(candidate, self._take_samples):
                    lost.add(candidate.variant)
        survivors = [c for c in warm if c.variant not in lost]
        for candidate in survivors:
            self._reporter.progress(candidate, Phase.TIMED, 1.0)
        return survivors

    def _does(self, candidate: Candidate, work: Callable[[Candidate], None]) -> bool:
        """Whether the candidate's code went through `work`; where not, its run is sent."""
        try:
            with self._reporter.working_on(candidate), code_of(candidate.variant), candidate.subject.context():
                work(candidate)
        except VariantError as error:
            self._reporter.finish(candidate, error.run)
            return False
        return True

    def _warm_up(self, candidate: Candidate, *, subjects: int) -> None:
        self._reporter.progress(candidate, Phase.TIMED, 0.0)
        candidate.seconds_per_call = call_time.warm_up(candidate.subject, self._device)
        candidate.pace = pace(candidate.seconds_per_call, plan=self._plan, subjects=subjects)
        if self._gate is not None:
            candidate.gated = GatedTimer(candidate.subject, self._device, self._gate, self._flush)

    def _announce(self, candidate: Candidate, number: int) -> None:
        """Every candidate's first block, where something new may go wrong, and the others now and then."""
        done = number / _pace_of(candidate).samples
        say = self._reporter.now_and_then if number else self._reporter.progress
        say(candidate, Phase.TIMED, done)

    def _take_samples(self, candidate: Candidate) -> None:
        calls = _pace_of(candidate).calls(candidate.seconds_per_call)
        ns = call_time.time_block(candidate.subject, self._device, calls=calls)
        candidate.seconds_per_call = ns / 1e9
        candidate.call_ns.append(ns)
        if candidate.gated is not None:
            candidate.gpu_ns.append(candidate.gated.sample())
            candidate.gpu_state = nvml.gpu_state(self._device)


def _pace_of(candidate: Candidate) -> Pace:
    assert candidate.pace is not None, "the warm-up sets it"
    return candidate.pace
