"""Axes of charts drawn as SVG: logarithmic places, round ticks, and names that make room for each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

PADDING = 1.25
FEW_DECADES = 2
STEPS = (1, 2, 5)
MOST_TICKS = 6


@dataclass(frozen=True, slots=True)
class LogScale:
    """From `low` at the bottom to `high` at the top; `ticks` are round numbers between them."""

    low: float
    high: float
    ticks: tuple[float, ...]

    @classmethod
    def over(cls, least: float, most: float) -> LogScale:
        """With some room beyond both; powers of ten as ticks, their 2 and 5 times too where they are few."""
        low, high = least / PADDING, most * PADDING
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        decades = [10.0**power for power in powers if low <= 10.0**power <= high]
        fine = [step * 10.0**power for power in powers for step in STEPS if low <= step * 10.0**power <= high]
        return cls(low, high, tuple(decades if len(decades) > FEW_DECADES else fine))

    def place(self, value: float) -> float:
        """0 at the top, 1 at the bottom."""
        return math.log(self.high / value) / math.log(self.high / self.low)


def round_ticks(first: int, last: int) -> tuple[int, ...]:
    """At most six whole numbers from `first` to `last`, evenly apart by a round step."""
    if first == last:
        return (first,)
    rough = (last - first) / MOST_TICKS
    power = 10 ** max(0, math.floor(math.log10(max(1.0, rough))))
    steps = (s * power for s in (1, 2, 5, 10, 20) if s * power >= rough)
    found = (range(-(-first // step) * step, last + 1, step) for step in steps)
    return tuple(next(ticks for ticks in found if len(ticks) <= MOST_TICKS))


def spread(places: Sequence[float], *, apart: float) -> list[float]:
    """The places (shares of a height) moved no more than it takes for neighbours to be `apart`, within 0 to 1 if they
    fit."""
    order = sorted(range(len(places)), key=lambda index: places[index])
    moved = list(places)
    for before, after in pairwise(order):
        moved[after] = max(moved[after], moved[before] + apart)
    limit = 1.0
    for index in reversed(order):
        moved[index] = min(moved[index], limit)
        limit = moved[index] - apart
    return moved
