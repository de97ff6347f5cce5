"""How often each subject is timed, and in which order: shuffled rounds, one block of each subject per round."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from profiles.plan import Plan

LEAST_SAMPLES = 20
FEWEST_SAMPLES = 3  # of a single call so long that twenty would take several budgets
BUDGETS_FOR_LEAST = 4
BLOCK_S = 0.04
BUDGET_FOR_BLOCKS = 0.5
MOST_CALLS = 10_000


@dataclass(frozen=True, slots=True)
class Pace:
    """How often one subject is sampled and how long its blocks of calls should be; `doubt` where that is too few."""

    samples: int
    block_s: float
    doubt: str | None = None

    def calls(self, seconds_per_call: float) -> int:
        """Of one block, by how long a call took last."""
        return max(1, min(MOST_CALLS, int(self.block_s / seconds_per_call)))


def pace(seconds_per_call: float, *, plan: Plan, subjects: int) -> Pace:
    """`plan.samples` where this subject's share of the budget allows; never fewer than twenty.

    The exception is a single call so long that twenty of it would take four times the whole budget.
    """
    share_s = plan.budget_s / subjects
    block_s = min(BLOCK_S, BUDGET_FOR_BLOCKS * share_s / plan.samples)
    round_s = max(block_s, seconds_per_call) + seconds_per_call
    affordable = int(share_s / round_s)
    if affordable >= LEAST_SAMPLES:
        return Pace(min(plan.samples, affordable), block_s)
    most_s = BUDGETS_FOR_LEAST * plan.budget_s
    if LEAST_SAMPLES * seconds_per_call <= most_s:
        return Pace(LEAST_SAMPLES, block_s)
    samples = max(FEWEST_SAMPLES, int(most_s / seconds_per_call / 2))
    return Pace(samples, block_s, f"only {samples} samples: one call takes {seconds_per_call:,.1f} s")


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
