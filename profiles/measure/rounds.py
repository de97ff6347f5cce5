"""How often each candidate is timed within a build, and in which order: shuffled rounds, one turn of each per round."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from profiles.measure.load import REST_S
from profiles.plan import Load, Plan

LEAST_SAMPLES = 20
FEWEST_SAMPLES = 3  # of a single call so long that twenty would take several budgets
BUDGETS_FOR_LEAST = 4
BLOCK_S = 0.01  # builds are what counts: a longer block steadies its sample, but leaves time for fewer of them
BUDGET_FOR_BLOCKS = 0.5
MOST_CALLS = 10_000


@dataclass(frozen=True, slots=True)
class Pace:
    """How many turns one candidate has in each of how many builds at least, and how long its blocks of calls should be;
    `doubt` where that is too little."""

    per_build: int
    builds: int
    block_s: float
    doubt: str | None = None

    @property
    def samples(self) -> int:
        return self.per_build * self.builds

    def calls(self, seconds_per_call: float) -> int:
        """Of one block, by how long a call took last."""
        return max(1, min(MOST_CALLS, int(self.block_s / seconds_per_call)))


def pace(seconds_per_call: float, *, plan: Plan, subjects: int) -> Pace:
    """`plan.samples` over `plan.builds` where this candidate's share of the budget allows; never fewer than twenty.

    The exception is a single call so long that twenty of it would take four times the whole budget. Each build costs
    an untimed call, each turn a rest (where the load is in bursts), a block and a single call.
    """
    share_s = plan.budget_s / subjects
    block_s = min(BLOCK_S, BUDGET_FOR_BLOCKS * share_s / plan.samples)
    rest_s = min(REST_S, block_s) if plan.load is Load.BURST else 0.0
    turn_s = rest_s + max(block_s, seconds_per_call) + seconds_per_call
    affordable = int((share_s / plan.builds - seconds_per_call) / turn_s)
    least = math.ceil(LEAST_SAMPLES / plan.builds)
    if affordable >= least:
        return Pace(min(math.ceil(plan.samples / plan.builds), affordable), plan.builds, block_s)
    most_s = BUDGETS_FOR_LEAST * plan.budget_s
    if LEAST_SAMPLES * seconds_per_call <= most_s:
        return Pace(least, plan.builds, block_s)
    samples = max(FEWEST_SAMPLES, int(most_s / seconds_per_call / 2))
    builds = min(plan.builds, samples)
    doubt = f"only {samples // builds * builds} samples: one call takes {seconds_per_call:,.1f} s"
    return Pace(samples // builds, builds, block_s, doubt)


def least_samples(builds: int) -> int:
    """What is taken whatever the budget says: twenty, or as many more as make whole builds of the plan's number."""
    return LEAST_SAMPLES if builds > LEAST_SAMPLES else math.ceil(LEAST_SAMPLES / builds) * builds


def shuffled_rounds(turns: Sequence[int], *, seed: int) -> Iterator[tuple[int, int]]:
    """(round, index) for each candidate's number of turns, so that drifts of clocks and temperature meet all alike.

    A candidate with fewer turns than others sits out the rounds after its last one.
    """
    generator = random.Random(seed)  # noqa: S311 - an order of measuring, not a secret
    for number in range(max(turns, default=0)):
        indices = [index for index, count in enumerate(turns) if number < count]
        generator.shuffle(indices)
        for index in indices:
            yield number, index
