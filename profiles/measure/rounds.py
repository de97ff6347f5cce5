"""Timing of all subjects of a process together: shuffled rounds, one block of each subject per round."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from profiles.plan import Plan

LEAST_SAMPLES = 20
FEWEST_SAMPLES = 3  # of a single call so long that twenty would take several budgets
BLOCK_S = 0.04
MOST_CALLS = 10_000
BUDGET_FOR_BLOCKS = 0.5


@dataclass(frozen=True, slots=True)
class Pace:
    """How often one subject is sampled and how many calls one block has; `doubt` where that had to be too few."""

    samples: int
    calls: int
    doubt: str | None = None


@dataclass(slots=True)
class Samples:
    """What was timed of one subject so far, in ns."""

    call_ns: list[float] = field(default_factory=list)
    gpu_ns: list[float] = field(default_factory=list)


def pace(seconds_per_call: float, *, plan: Plan, subjects: int) -> Pace:
    """`plan.samples` where the budget allows; never fewer than twenty, unless those took four times the budget."""
    share_s = plan.budget_s / subjects
    block_s = min(BLOCK_S, BUDGET_FOR_BLOCKS * share_s / plan.samples)
    calls = max(1, min(MOST_CALLS, round(block_s / seconds_per_call)))
    round_s = (calls + 1) * seconds_per_call
    affordable = int(share_s / round_s)
    if affordable >= LEAST_SAMPLES:
        return Pace(min(plan.samples, affordable), calls)
    if LEAST_SAMPLES * round_s <= 4 * share_s:
        return Pace(LEAST_SAMPLES, calls)
    samples = max(FEWEST_SAMPLES, min(LEAST_SAMPLES, int(4 * share_s / round_s)))
    return Pace(samples, calls, f"only {samples} samples: one call takes {seconds_per_call:,.1f} s")


def shuffled_rounds(paces: Sequence[Pace], *, seed: int) -> Iterator[tuple[int, int]]:
    """(round, index of a subject), so that drifts of clocks and temperature meet all alike.

    A subject with fewer samples than others sits out the rounds after its last one.
    """
    generator = random.Random(seed)  # noqa: S311 - an order of measuring, not a secret
    for number in range(max((p.samples for p in paces), default=0)):
        indices = [index for index, p in enumerate(paces) if number < p.samples]
        generator.shuffle(indices)
        for index in indices:
            yield number, index


class Throttle:
    """Lets one progress report through per `interval_s`; the clock is an argument so that tests need not wait."""

    def __init__(self, clock: Callable[[], float], interval_s: float) -> None:
        self._clock, self._interval_s = clock, interval_s
        self._last = float("-inf")

    def due(self) -> bool:
        now = self._clock()
        if now - self._last < self._interval_s:
            return False
        self._last = now
        return True
