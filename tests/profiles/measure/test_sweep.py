"""A sweep on a CPU, with a step that only looks: who takes part, and who holds buffers meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

from profiles.measure.builds import Builds
from profiles.measure.cache_policy import CacheState
from profiles.measure.candidate import Candidate
from profiles.measure.rounds import Pace
from profiles.measure.sweep import Extent, Sweep
from profiles.plan import CachePolicy
from tests.profiles.measure.given_subjects import subject_of

CPU = torch.device("cpu")


def candidate(variant: str, *, doubt: str | None = None) -> Candidate:
    found = Candidate(subject_of(lambda x: x + 1, variant=variant))
    found.times.pace = Pace(1, 2, 0.01, doubt)
    return found


class Looks:
    """Notes in each build who has buffers, in the turn of the one that looks."""

    def __init__(self, looks: Candidate, everyone: list[Candidate]) -> None:
        self._looks, self._everyone = looks, everyone
        self.seen: list[list[str]] = []

    def turns(self, pace: Pace) -> int:
        return pace.per_build

    def taken(self, candidate: Candidate) -> int:  # noqa: ARG002 - as Step has it
        return len(self.seen)

    def begin(self, candidate: Candidate) -> None: ...

    def take(self, candidate: Candidate) -> None:
        if candidate is self._looks:
            self.seen.append([c.variant for c in self._everyone if c.times.place is not None])


def swept(everyone: list[Candidate], *, lost: str | None = None, builds: int = 3) -> list[list[str]]:
    def does(candidate: Candidate, work: Callable[[Candidate], None]) -> bool:
        work(candidate)
        return candidate.variant != lost

    looks = Looks(everyone[0], everyone)
    sweep = Sweep(Builds(CPU, CacheState(CPU, CachePolicy.WARM), torch.ones(10)), does, seed=1)
    extent = Extent(
        least_builds=2, least_turns=1, until_s=time.monotonic() + 60, enough=lambda: len(looks.seen) >= builds
    )
    sweep.run(everyone, looks, extent)
    return looks.seen


def test_a_lost_candidate_holds_no_buffers_in_the_builds_after() -> None:
    everyone = [candidate("well"), candidate("lost")]
    assert swept(everyone, lost="lost") == [["well", "lost"], ["well"], ["well"]]


def test_one_that_sits_out_the_builds_beyond_the_least_holds_no_buffers_in_them() -> None:
    everyone = [candidate("well"), candidate("slow", doubt="only 3 samples")]
    assert swept(everyone) == [["well", "slow"], ["well", "slow"], ["well"]]


def test_nobody_holds_buffers_when_a_sweep_is_over() -> None:
    everyone = [candidate("well"), candidate("other")]
    swept(everyone)
    assert [c.times.place for c in everyone] == [None, None]
