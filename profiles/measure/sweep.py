"""Going through builds, and within each through shuffled rounds over all candidates: what a turn takes is a step's."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Protocol

from profiles.measure.builds import Builds
from profiles.measure.candidate import Candidate, pace_of
from profiles.measure.rounds import Pace, shuffled_rounds

SEEDS_APART = 1_000_003  # more builds than there are: no two builds of near seeds share an order


class Step(Protocol):
    """What is done to one candidate, in the contexts of its place: `begin` once per build, `take` once per turn."""

    def begin(self, candidate: Candidate) -> None: ...
    def take(self, candidate: Candidate) -> None: ...
    def turns(self, pace: Pace) -> int:
        """In each build."""
        ...

    def taken(self, candidate: Candidate) -> int:
        """How many turns it has had; of a recording, how many samples it gave."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How far a sweep goes: `least_builds` at least, then on while `enough()` says no and there is time.

    Past `until_s` (of the monotonic clock) it ends even before, as soon as every candidate has had `least_turns`.
    """

    least_builds: int
    least_turns: int
    until_s: float
    enough: Callable[[], bool]


class Sweep:
    """`does` runs work on a candidate and tells whether it got through; one that did not is left out from then on."""

    def __init__(
        self, builds: Builds, does: Callable[[Candidate, Callable[[Candidate], None]], bool], *, seed: int
    ) -> None:
        self._builds, self._does, self._seed = builds, does, seed
        self._lost: set[str] = set()

    def lost(self, candidate: Candidate) -> bool:
        return candidate.variant in self._lost

    def run(self, candidates: Sequence[Candidate], step: Step, extent: Extent) -> None:
        for build in count():
            _leave_places(candidates)  # their memory is for the new ones
            alive = [c for c in candidates if not self.lost(c)]
            extra = build >= extent.least_builds
            taking = [c for c in alive if takes_part(pace_of(c), build, extra=extra)]
            if not taking or (extra and (time.monotonic() > extent.until_s or extent.enough())):
                return
            self._begin(build, taking, step)
            if not self._rounds(build, taking, step, extent):
                break
        _leave_places(candidates)

    def work(self, candidate: Candidate, work: Callable[[Candidate], None]) -> bool:
        if self.lost(candidate):
            return False
        done = self._does(candidate, work)
        if not done:
            self._lost.add(candidate.variant)
        return done

    def _begin(self, build: int, taking: Sequence[Candidate], step: Step) -> None:
        gc.collect()
        for candidate, place in zip(taking, self._builds.places(build, [c.subject for c in taking]), strict=True):
            candidate.times.place = place
        for candidate in taking:
            self.work(candidate, step.begin)

    def _rounds(self, build: int, taking: Sequence[Candidate], step: Step, extent: Extent) -> bool:
        """Whether there is time for another build."""
        turns = [step.turns(pace_of(c)) for c in taking]
        last_round = 0
        for number, index in shuffled_rounds(turns, seed=self._seed * SEEDS_APART + build):
            if number != last_round and self._over(taking, step, extent):
                return False
            last_round = number
            self.work(taking[index], step.take)
        return not self._over(taking, step, extent)

    def _over(self, taking: Sequence[Candidate], step: Step, extent: Extent) -> bool:
        return time.monotonic() > extent.until_s and all(
            step.taken(c) >= min(extent.least_turns, pace_of(c).samples) for c in taking if not self.lost(c)
        )


def _leave_places(candidates: Sequence[Candidate]) -> None:
    """Also of those that are lost, or sit out: their buffers and graphs would stay as long as the others are timed."""
    for candidate in candidates:
        candidate.times.place = candidate.times.replay = None


def takes_part(pace: Pace, build: int, *, extra: bool) -> bool:
    """One that is so slow that it has too few samples anyway is spared the builds beyond the least."""
    return pace.doubt is None if extra else build < pace.builds
