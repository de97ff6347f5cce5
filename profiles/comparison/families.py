"""Verdicts of a whole family of comparisons, so that looking at many does not make false ones likely."""

from __future__ import annotations

import math
from collections.abc import Sequence

from profiles.comparison.statistics import CONFIDENCE, Estimate
from profiles.verdict import Verdict

LOOKS = 2.5
"""Timing stops when the interval is short enough, which is a look at the data after every build. The chance of a false
verdict is divided by this; benchmarks/simulated_verdicts.py shows what is left."""


def levels(estimates: Sequence[Estimate], margins: Sequence[float], *, confidence: float = CONFIDENCE) -> list[float]:
    """The confidence of each comparison's interval, by Holm's step-down procedure (1979, Scand. J. Statist. 6).

    What decides a comparison is how far its ratio lies from the nearest edge of the margin. The clearest of k is held
    against (1 − confidence) ÷ k, the next against (1 − confidence) ÷ (k − 1); after the first that does not pass, all
    share its level, so that an interval and its verdict never contradict.
    """
    chance = (1 - confidence) / LOOKS
    doubts = [
        estimate.beyond(abs(abs(estimate.mean) - edge(margin)))
        for estimate, margin in zip(estimates, margins, strict=True)
    ]
    found = [1 - chance] * len(doubts)
    passing, level = True, chance
    for place, index in enumerate(sorted(range(len(doubts)), key=doubts.__getitem__)):
        if passing:
            level = chance / (len(doubts) - place)
            passing = doubts[index] < level
        found[index] = 1 - level
    return found


def edge(margin: float) -> float:
    """Where the margin of practical equivalence ends, on the log scale: alike for faster and slower."""
    return math.log1p(margin)


def verdict(mean: float, half_width: float | None, *, margin: float) -> Verdict:
    """Of ln(baseline ÷ candidate) and half of its interval."""
    if half_width is None:
        return Verdict.UNDECIDED
    if mean - half_width > edge(margin):
        return Verdict.FASTER
    if mean + half_width < -edge(margin):
        return Verdict.SLOWER
    return Verdict.EQUIVALENT if abs(mean) + half_width <= edge(margin) else Verdict.UNDECIDED
