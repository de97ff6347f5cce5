"""Times the candidates of a session together, profiler off: warm-up, then builds of shuffled rounds within the budget.

What disturbs comes last: graphs are captured after all calls are timed, the driver's recorder is switched on after
that, and loops for energy end it.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import torch

from profiles.measure import call_time, energy, load
from profiles.measure.builds import Builds
from profiles.measure.cache_policy import CacheState
from profiles.measure.candidate import Candidate, pace_of, place_of
from profiles.measure.device import take_device
from profiles.measure.failures import VariantError, code_of
from profiles.measure.gate import Gate
from profiles.measure.gpu_time import GatedTimer
from profiles.measure.host_time import HostTimer
from profiles.measure.rounds import least_samples, pace
from profiles.measure.steps import Calls, Kit, Recordings, Replays
from profiles.measure.stopping import compared, decided
from profiles.measure.subject import Subject
from profiles.measure.sweep import Extent, Sweep
from profiles.operations.implementation import Output
from profiles.plan import Load, Plan
from profiles.protocol import Phase
from profiles.results import Metric, Run
from profiles.variant import parse_variant

# Of the budget on a GPU, by when each sweep should be over. A CPU has the first alone.
CALLS_SHARE, REPLAYS_SHARE = 0.75, 0.9


class Listener(Protocol):
    """Who is told how far timing is, and which variant has failed: a session's Reporter."""

    def working_on(self, candidate: Candidate) -> AbstractContextManager[None]: ...
    def progress(self, candidate: Candidate, phase: Phase, done: float) -> None: ...
    def now_and_then(self, candidate: Candidate, phase: Phase, done: float) -> None: ...
    def finish(self, candidate: Candidate, run: Run) -> None: ...


class Timing:
    """One use per process: the gate is calibrated and the flush allocated once."""

    def __init__(self, device: torch.device, plan: Plan, listener: Listener, *, window_ns: float = 0.0) -> None:
        self._device, self._plan, self._listener = device, plan, listener
        self._gate = Gate(window_ns) if device.type == "cuda" else None
        self._cache = CacheState(device, plan.cache)

    def time(
        self, candidates: Sequence[Candidate], *, seed: int, inputs: Any, baseline: str | None = None
    ) -> list[Candidate]:
        """Those that got through, with their times; the runs of the others are sent.

        Every build has the values of `inputs`. Candidates are compared with `baseline`, or with the first where that
        is not among them; a twin with its own first.
        """
        builds = Builds(self._device, self._cache, inputs)
        sweep = Sweep(builds, partial(self._does, {c.variant: c for c in candidates}), seed=seed)
        everyone = [one for candidate in candidates for one in (candidate, candidate.twin) if one is not None]
        with call_time.no_collection():
            warm = [c for c in everyone if sweep.work(c, partial(self._warm_up, subjects=len(everyone)))]
            self._settle(sweep, warm)
            kit = Kit(
                plan=self._plan,
                device=self._device,
                cache=self._cache,
                begun_s=time.monotonic(),
                announce=self._announce,
            )
            pairs = partial(compared, candidates, lost=sweep.lost, baseline=baseline)
            self._sweep_calls(sweep, warm, kit, lambda: decided(pairs(), margin=self._plan.margin))
            self._sweep_device(sweep, warm, kit, builds)
            self._take_energy(sweep, builds, candidates)
        for candidate in everyone:
            candidate.times.place = candidate.times.replay = None  # memory is free for the trace
            candidate.times.notes += builds.notes(candidate.subject)
        survivors = [c for c in candidates if not sweep.lost(c)]
        for candidate in survivors:
            self._listener.progress(candidate, Phase.TIMED, 1.0)
        return survivors

    def _sweep_calls(self, sweep: Sweep, warm: Sequence[Candidate], kit: Kit, enough: Callable[[], bool]) -> None:
        share = 1.0 if self._gate is None else CALLS_SHARE
        sweep.run(warm, Calls(kit), self._extent(kit, share, enough))

    def _sweep_device(self, sweep: Sweep, warm: Sequence[Candidate], kit: Kit, builds: Builds) -> None:
        """What more a GPU has; each sweep has the plan's builds once more, in memory of their own."""
        if self._gate is None or not self._gate.available:
            return
        replays = Replays(kit, self._gate, after_failure=builds.leave_cache)
        sweep.run(_capturable(warm), replays, self._extent(kit, REPLAYS_SHARE, _at_once))
        too_long = [c for c in warm if _too_long_for_a_gate(c)]
        sweep.run(too_long, Recordings(kit, self._gate), self._extent(kit, 1.0, _at_once))

    def _extent(self, kit: Kit, share: float, enough: Callable[[], bool]) -> Extent:
        return Extent(
            least_builds=self._plan.builds,
            least_turns=least_samples(self._plan.builds),
            until_s=kit.begun_s + share * self._plan.budget_s,
            enough=enough,
        )

    def _does(self, firsts: Mapping[str, Candidate], candidate: Candidate, work: Callable[[Candidate], None]) -> bool:
        """Whether the candidate's code went through `work`, within its contexts; where not, its run is sent.

        A twin's run is that of its first, of whom everything but the twin's times is known: `firsts` by variant.
        """
        try:
            with self._listener.working_on(candidate), code_of(candidate.variant), _context(candidate):
                work(candidate)
        except VariantError as error:
            self._listener.finish(firsts[candidate.variant], error.run)
            return False
        return True

    def _warm_up(self, candidate: Candidate, *, subjects: int) -> None:
        self._listener.progress(candidate, Phase.TIMED, 0.0)
        times = candidate.times
        times.seconds_per_call = call_time.warm_up(candidate.subject, self._device)
        times.pace = pace(times.seconds_per_call, plan=self._plan, subjects=subjects)
        if self._gate is not None:
            times.gated, times.host = GatedTimer(self._device, self._gate), HostTimer(self._device, self._gate)

    def _settle(self, sweep: Sweep, warm: Sequence[Candidate]) -> None:
        """All of them in turn; the spotlight and the contexts are each one's own."""
        if self._plan.load is not Load.SUSTAINED:
            return
        settling = load.Settling(self._device)
        while not settling.over and not all(map(sweep.lost, warm)):
            for candidate in warm:
                sweep.work(candidate, lambda c: settling.keep_busy(c.subject.call, share=len(warm)))
            settling.look()

    def _announce(self, candidate: Candidate) -> None:
        """Every candidate's first block, where something new may go wrong, and the others now and then."""
        taken = len(candidate.times.series["call_time"])
        say = self._listener.now_and_then if taken else self._listener.progress
        say(candidate, Phase.TIMED, min(0.99, taken / pace_of(candidate).samples))

    def _take_energy(self, sweep: Sweep, builds: Builds, candidates: Sequence[Candidate]) -> None:
        concerned = [c for c in candidates if not sweep.lost(c)]
        if not self._plan.energy or not concerned:
            return
        if (found := energy.meter(self._device)) is None:
            for candidate in concerned:
                candidate.times.notes.append("energy: this machine lets nobody read a counter of it")
            return
        idle_w = energy.idle_power_w(found, self._device)
        for candidate, place in zip(concerned, builds.places(0, [c.subject for c in concerned]), strict=True):
            candidate.times.place = place
            sweep.work(candidate, lambda c: self._loop(c, found, idle_w=idle_w))

    def _loop(self, candidate: Candidate, found: energy.Meter, *, idle_w: float) -> None:
        self._listener.progress(candidate, Phase.TIMED, 0.99)
        times = candidate.times
        times.energy = energy.measure_energy(
            place_of(candidate).in_turn,
            self._device,
            found,
            idle_w=idle_w,
            seconds_per_call=times.seconds_per_call,
        )


@torch.no_grad()
def time_functions(
    functions: Mapping[str, Callable[[Any], Output]],
    make_inputs: Callable[[int], Any],
    *,
    device: torch.device,
    plan: Plan,
    seed: int = 0,
    window_ns: float = 0.0,
) -> dict[str, tuple[Metric, ...]]:
    """Time functions that are in no catalogue as variants are timed: the same builds, rounds, gates and policies.

    `make_inputs(seed)` gives what each function is called with; the first function is the baseline. What a function
    raises is raised as VariantError. `window_ns` is what `measure_window` found on this device, in another process.
    """
    device = take_device(str(device))
    inputs = make_inputs(seed)
    nowhere = Path(tempfile.gettempdir())
    candidates = [
        Candidate(Subject(name, function, inputs, lambda _: nullcontext(), nowhere))
        for name, function in functions.items()
    ]
    Timing(device, plan, _Nobody(), window_ns=window_ns).time(candidates, seed=seed, inputs=inputs)
    return {candidate.variant: tuple(candidate.times.metrics()) for candidate in candidates}


class _Nobody:
    """Hears nothing of progress, and lets errors through."""

    def working_on(self, candidate: Candidate) -> AbstractContextManager[None]:  # noqa: ARG002 - as Listener has it
        return nullcontext()

    def progress(self, candidate: Candidate, phase: Phase, done: float) -> None: ...
    def now_and_then(self, candidate: Candidate, phase: Phase, done: float) -> None: ...

    def finish(self, candidate: Candidate, run: Run) -> None:  # noqa: ARG002 - as Listener has it
        raise VariantError(run)


def _at_once() -> bool:
    """Of a sweep that decides nothing: the plan's builds are enough."""
    return True


@contextmanager
def _context(candidate: Candidate) -> Iterator[None]:
    place = candidate.times.place
    with candidate.subject.context() if place is None else place.context():
        yield


def _too_long_for_a_gate(candidate: Candidate) -> bool:
    gated = candidate.times.gated
    return gated is not None and gated.gave_up


def _capturable(candidates: Sequence[Candidate]) -> list[Candidate]:
    """A variant that replays graphs by itself is its own graph time."""
    return [c for c in candidates if not parse_variant(c.variant).execution.asks_for_graphs]
