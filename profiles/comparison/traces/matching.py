"""Structural matches: which kernels of one trace do what which kernels of another do, where names differ.

The kernels of both typical steps (of whole recordings, where no steps are told) are laid side by side by the operators
that launched them, their modules, roles and names. What could as well be paired with something else stays unmatched.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from profiles.comparison.traces.document import (
    Figure,
    Ground,
    Match,
    MatchedKernel,
    Matching,
    OperatorTime,
    Side,
)
from profiles.comparison.traces.entry import ComparedTrace
from profiles.comparison.traces.figures import timed
from profiles.comparison.traces.leftovers import Paired
from profiles.comparison.traces.pairing import pair_units
from profiles.comparison.traces.units import Unit, units
from profiles.trace.contents import TraceContents

MOST_KERNELS = 8_000  # of either sequence


def match(baseline: ComparedTrace, candidate: ComparedTrace) -> Matching | None:
    """None where one of them has no sequence of kernels."""
    before, after = baseline.contents, candidate.contents
    if before is None or after is None or not before.sequence or not after.sequence:
        return None
    sides = _bounded(units(before)), _bounded(units(after))
    found = pair_units(*sides)
    pairs = found.pairs
    return Matching(
        steps=(before.typical, after.typical),
        baseline=_side(before, sides[0], [unit for pair in pairs for unit in pair.baseline]),
        candidate=_side(after, sides[1], [unit for pair in pairs for unit in pair.candidate]),
        matches=_matches(before, after, pairs),
        operators=_operators(before, after, pairs),
        ambiguous=found.ambiguous,
        cut=max(_left_out(held, side) for held, side in zip((before, after), sides, strict=True)),
    )


def _bounded(found: list[Unit]) -> list[Unit]:
    return [unit for unit in found if unit.places[-1] < MOST_KERNELS]


def _left_out(held: TraceContents, side: Sequence[Unit]) -> int:
    return len(held.sequence) - sum(len(unit.places) for unit in side) + held.cut


def _side(held: TraceContents, side: Sequence[Unit], matched: Sequence[Unit]) -> Side:
    places = {place for unit in matched for place in unit.places}
    left = [place for unit in side for place in unit.places if place not in places]
    return Side(
        kernels=len(places) + len(left),
        matched=len(places),
        total_ns=_time_ns(held, places) + _time_ns(held, left),
        matched_ns=_time_ns(held, places),
        unmatched=_kernels(held, left, longest_first=True),
    )


def _matches(before: TraceContents, after: TraceContents, pairs: Sequence[Paired]) -> tuple[Match, ...]:
    """Equal ones added up, by how far their times lie apart."""
    grouped: dict[object, list[Paired]] = defaultdict(list)
    for pair in pairs:
        names = _named(pair.baseline), _named(pair.candidate)
        key = (pair.ground, names, _operators_of(pair), _module(pair))
        grouped[key].append(pair)
    found = [_match(before, after, group) for group in grouped.values()]
    return tuple(sorted(found, key=lambda one: -abs(one.time.difference_ns or 0)))


def _named(side: Sequence[Unit]) -> tuple[str, ...]:
    return tuple(name for unit in side for name in unit.names)


def _operator(pair: Paired) -> str | None:
    """The one that both sides have, else the baseline's."""
    return _operators_of(pair)[0]


def _operators_of(pair: Paired) -> tuple[str | None, str | None]:
    """Of both sides: twice the innermost where it alone is what they have in common; nothing of groups."""
    one, other = pair.baseline[0], pair.candidate[0]
    if len(pair.baseline) > 1 or len(pair.candidate) > 1:
        return None, None
    if one.operator != other.operator and one.inner == other.inner:
        return one.inner, one.inner
    return one.operator, other.operator


def _module(pair: Paired) -> str | None:
    """Of the pairs that rest on it; those of one operator are added up over all modules."""
    return pair.baseline[0].module if pair.ground is Ground.MODULE else None


def _match(before: TraceContents, after: TraceContents, group: Sequence[Paired]) -> Match:
    places = [place for pair in group for unit in pair.baseline for place in unit.places]
    others = [place for pair in group for unit in pair.candidate for place in unit.places]
    return Match(
        ground=group[0].ground,
        places=len(group),
        operator=_operator(group[0]),
        module=_module(group[0]),
        baseline=_kernels(before, places),
        candidate=_kernels(after, others),
        time=timed(Figure(value=_time_ns(before, places)), Figure(value=_time_ns(after, others))),
    )


def _operators(before: TraceContents, after: TraceContents, pairs: Sequence[Paired]) -> tuple[OperatorTime, ...]:
    """The longest of the baseline first."""
    grouped: dict[str | None, list[Paired]] = defaultdict(list)
    for pair in pairs:
        grouped[_operator(pair)].append(pair)
    found = [
        OperatorTime(
            operator=operator,
            places=len(group),
            time=timed(
                Figure(value=sum(_time_ns(before, unit.places) for pair in group for unit in pair.baseline)),
                Figure(value=sum(_time_ns(after, unit.places) for pair in group for unit in pair.candidate)),
            ),
        )
        for operator, group in grouped.items()
    ]
    return tuple(sorted(found, key=lambda one: (-(one.time.baseline.value or 0), one.operator or "")))


def _kernels(held: TraceContents, places: Sequence[int], *, longest_first: bool = False) -> tuple[MatchedKernel, ...]:
    """By name, in order of first launch."""
    calls: dict[int, list[int]] = defaultdict(list)
    for place in places:
        calls[held.sequence[place]].append(held.durations_ns[place])
    found = [
        MatchedKernel(
            name=kernel.name,
            short_name=kernel.short_name,
            role=kernel.role,
            calls=len(durations),
            total_ns=sum(durations),
        )
        for kernel, durations in ((held.kernels[at], durations) for at, durations in calls.items())
    ]
    return tuple(sorted(found, key=lambda one: -one.total_ns) if longest_first else found)


def _time_ns(held: TraceContents, places: Iterable[int]) -> int:
    return sum(held.durations_ns[place] for place in places)
