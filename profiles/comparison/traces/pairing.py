"""Which units of two sequences stand for each other: the same pairs whoever is the baseline.

Of alignments that are as good one has to be taken, and groups of leftovers take turns: both go by the order of the two
sides. That order is their own, by what they hold; the pairs are turned round where the baseline comes second in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from profiles.comparison.traces.alignment import align
from profiles.comparison.traces.document import Ground
from profiles.comparison.traces.leftovers import Paired, pair_leftovers
from profiles.comparison.traces.units import Likeness, Unit


@dataclass(frozen=True, slots=True)
class Pairing:
    """`ambiguous` counts the pairs that stay open, as another alignment is as good."""

    pairs: tuple[Paired, ...]
    ambiguous: int


def pair_units(baseline: list[Unit], candidate: list[Unit]) -> Pairing:
    if _order(candidate) < _order(baseline):
        found = _paired(candidate, baseline)
        turned = (Paired(pair.ground, pair.candidate, pair.baseline) for pair in found.pairs)
        return Pairing(tuple(turned), found.ambiguous)
    return _paired(baseline, candidate)


def _order(side: Sequence[Unit]) -> tuple[int, list[object]]:
    """The longer side first, equally long ones by all that tells units apart; None before texts."""
    return -len(side), [
        (
            unit.names,
            *((text is not None, text or "") for text in (unit.operator, unit.inner, unit.module, unit.does)),
            unit.places,
        )
        for unit in side
    ]


def _paired(first: list[Unit], second: list[Unit]) -> Pairing:
    likeness = Likeness(first, second)
    aligned = align(likeness.score, likeness.kinds)
    placed = {at: _pair(first[at[0]], second[at[1]]) for at in aligned.pairs}
    kept = {at: pair for at, pair in placed.items() if pair.ground is not Ground.ROLE or _is_placed(at, placed)}
    pairs = (*kept.values(), *pair_leftovers((first, second), kept, aligned.ambiguous))
    return Pairing(pairs, len(aligned.ambiguous))


def _pair(one: Unit, other: Unit) -> Paired:
    if one.names == other.names:
        ground = Ground.NAME
    elif _is_same_operator(one, other):
        ground = Ground.OPERATOR
    elif one.shorts == other.shorts:
        ground = Ground.LIKE_NAME
    elif one.module is not None and one.module == other.module:
        ground = Ground.MODULE
    else:
        ground = Ground.ROLE
    return Paired(ground, (one,), (other,))


def _is_same_operator(one: Unit, other: Unit) -> bool:
    """A call of one operator launched at least one of them, and of the other that operator is told too."""
    if one.operator is None and other.operator is None:
        return False
    return one.operator == other.operator or (one.inner is not None and one.inner == other.inner)


def _is_placed(at: tuple[int, int], placed: dict[tuple[int, int], Paired]) -> bool:
    """A role says little: of pairs that rest on it those count that stand right between two others, or right beside one
    that rests on more."""
    beside = [placed.get((at[0] + step, at[1] + step)) for step in (-1, 1)]
    return None not in beside or any(pair is not None and pair.ground is not Ground.ROLE for pair in beside)
