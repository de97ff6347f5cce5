"""Groups of what an alignment leaves over on both sides: a fusion here, the kernels that it stands for there."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter

from profiles.comparison.traces.document import Ground
from profiles.comparison.traces.units import GENERATED, Unit

MOST_BETWEEN = 32  # kernels of one side between two neighbours
_HALF = 0.5

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Paired:
    """Units of both sides that stand for each other."""

    ground: Ground
    baseline: tuple[Unit, ...]
    candidate: tuple[Unit, ...]


def pair_leftovers(
    sides: tuple[list[Unit], list[Unit]], pairs: Mapping[Place, Paired], ambiguous: Sequence[Place]
) -> Iterator[Paired]:
    """`pairs` are those at their places in both sides; what is `ambiguous` is no leftover, and stays open."""
    left = _Leftovers(sides, pairs, ambiguous)
    yield from left.by_module()
    yield from left.fused()
    if left.mostly_paired():
        yield from left.between()


class _Leftovers:
    """What is taken by one group is not there for the next."""

    def __init__(
        self, sides: tuple[list[Unit], list[Unit]], pairs: Mapping[Place, Paired], ambiguous: Sequence[Place]
    ) -> None:
        self._sides = sides
        self._pairs = pairs
        self._anchors = [(-1, -1), *sorted([*pairs, *ambiguous]), (len(sides[0]), len(sides[1]))]
        self._taken = tuple({at[side] for at in self._anchors} for side in (0, 1))

    def by_module(self) -> Iterator[Paired]:
        """Of one gap, where all of it is of one module: a fusion across operators."""
        for gap in self._gaps():
            modules = {self._sides[side][place].module for side in (0, 1) for place in gap[side]}
            if len(modules) == 1 and None not in modules:
                yield self._group(Ground.MODULE, gap)

    def fused(self) -> Iterator[Paired]:
        """A generated kernel names the operators fused into it. It stands for what the other side has left over of
        those, from where the kernel's own side last had something left over; where else is left too, for nothing."""
        for side in (0, 1):
            start = -1
            for at in self._left(side, 0, len(self._sides[side])):
                found = GENERATED.match(self._sides[side][at].names[0])
                end = self._after(side, at)[1 - side]
                window = self._left(1 - side, start + 1, end)
                if found and window and all(_is_in(self._sides[1 - side][place], found) for place in window):
                    gap = ([at], window) if side == 0 else (window, [at])
                    yield self._group(Ground.FUSED, gap)
                start = end - 1

    def between(self) -> Iterator[Paired]:
        for gap in self._gaps():
            if all(sum(len(self._sides[side][place].places) for place in gap[side]) <= MOST_BETWEEN for side in (0, 1)):
                yield self._group(Ground.BETWEEN, gap)

    def mostly_paired(self) -> bool:
        """Neighbours say something where at least half of both sides' kernels have been paired on better grounds."""
        for side, units in enumerate(self._sides):
            paired = sum(len(units[at[side]].places) for at in self._pairs)
            if paired < _HALF * sum(len(unit.places) for unit in units):
                return False
        return True

    def _gaps(self) -> Iterator[tuple[list[int], list[int]]]:
        """What both sides have left over between one anchor and the next."""
        for (one, other), (next_one, next_other) in pairwise(self._anchors):
            gap = self._left(0, one + 1, next_one), self._left(1, other + 1, next_other)
            if gap[0] and gap[1]:
                yield gap

    def _left(self, side: int, start: int, end: int) -> list[int]:
        return [place for place in range(start, end) if place not in self._taken[side]]

    def _after(self, side: int, at: int) -> Place:
        """The first anchor past a place."""
        return self._anchors[bisect_right(self._anchors, at, key=itemgetter(side))]

    def _group(self, ground: Ground, gap: tuple[list[int], list[int]]) -> Paired:
        for side in (0, 1):
            self._taken[side].update(gap[side])
        baseline, candidate = (tuple(self._sides[side][place] for place in gap[side]) for side in (0, 1))
        return Paired(ground, baseline, candidate)


def _is_in(unit: Unit, generated: re.Match[str]) -> bool:
    """Whether the operator around the unit's launch is among those that the generated kernel names."""
    operator = (unit.inner or unit.operator or "").rsplit("::", 1)[-1].strip("_")
    return bool(operator) and f"_{operator}_" in f"_{generated['operators']}_"
