"""First visits to new shapes: what they cost beside the second, which variant pays, and what a fixed shape hides."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from profiles import catalog
from profiles.comparison import figures
from profiles.comparison.entry import Entry, State, in_state
from profiles.comparison.parts import Part, mono, names, strong, text
from profiles.results import Run
from profiles.visits import Visit
from profiles.workload import Workload

PAYS_RATIO = 2.0
"""A first visit that takes up to so many times the second is within what calls differ by."""
DEAR_RATIO = 10.0
DEAR_NS = 1e6
USUAL_SHARE = 0.9
ALIKE = 0.9
"""Of the dearest: what is told apart by less is the same price to who reads it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitCost:
    """Of one entry, in ns: medians over the values of a walk, or the one visit to a neighbouring shape."""

    entry: Entry
    first_ns: float
    second_ns: float
    usual_ns: float
    """What nine tenths of the second visits do not exceed."""

    @property
    def pays(self) -> bool:
        return self.first_ns > self.usual_ns and self.first_ns > PAYS_RATIO * self.second_ns

    @property
    def dear(self) -> bool:
        return self.first_ns > DEAR_RATIO * self.second_ns and self.first_ns > DEAR_NS

    @property
    def extra_ns(self) -> float:
        return max(0.0, self.first_ns - self.second_ns)


def visits(entry: Entry) -> tuple[Visit, ...]:
    """Those of a measured entry's walk that took any time, in order; empty where it made none."""
    walked = entry.run.visits if entry.run is not None else None
    return () if walked is None else tuple(v for v in walked.visits if v.first_ns > 0 and v.second_ns > 0)


def walked_cost(entry: Entry) -> VisitCost | None:
    """The medians of its walk; None where it made none."""
    made = visits(entry)
    if not made:
        return None
    seconds = sorted(visit.second_ns for visit in made)
    return VisitCost(
        entry=entry,
        first_ns=statistics.median(visit.first_ns for visit in made),
        second_ns=statistics.median(seconds),
        usual_ns=seconds[math.ceil(USUAL_SHARE * len(seconds)) - 1],
    )


def shape_cost(entry: Entry) -> VisitCost | None:
    """Its visit to a neighbouring shape; None where it made none."""
    first, second = _value(entry.run, "first_shape"), _value(entry.run, "second_visit")
    if first is None or second is None:
        return None
    return VisitCost(entry=entry, first_ns=first, second_ns=second, usual_ns=second)


def walked(entries: Sequence[Entry]) -> tuple[VisitCost, ...]:
    """The costs of all measured walks, in the order of the entries."""
    return tuple(cost for entry in in_state(entries, State.MEASURED) if (cost := walked_cost(entry)) is not None)


def walked_axis(entries: Sequence[Entry]) -> str | None:
    """The axis that was walked: the first one's; None where nothing was."""
    found = (cost.entry.run for cost in walked(entries))
    return next((run.visits.axis for run in found if run is not None and run.visits is not None), None)


def visits_sentence(entries: Sequence[Entry]) -> tuple[Part, ...]:
    """At each new KV length `sdpa_auto` costs 47.8 ms once, then 0.04 ms; `sdpa_flash` costs 0.04 at once.

    The dearest by what its first visits cost more than its second ones, and the cheapest by its first visits. Of those
    that are about as dear the first one has the figures, the others are named. Empty where nothing was walked.
    """
    costs, axis = walked(entries), walked_axis(entries)
    if axis is None:
        return ()
    noun = axis_noun(entries[0].workload, axis)
    paying = [cost for cost in costs if cost.pays]
    if not paying:
        return _nobody_pays(noun, max(costs, key=lambda cost: cost.first_ns / cost.second_ns))
    most_ns = max(cost.extra_ns for cost in paying)
    dearest, *alike = (cost for cost in paying if cost.extra_ns >= ALIKE * most_ns)
    cheapest = min(costs, key=lambda cost: cost.first_ns)
    other = cheapest if cheapest not in (dearest, *alike) else None
    return (*_each(noun), *price(dearest, unit=True), *_likewise(alike), *against(dearest, other), text("."))


def price(cost: VisitCost, *, unit: bool = False) -> tuple[Part, ...]:
    """`sdpa_auto` costs 47.8 ms once, then 0.04; with its `unit` again where that is wanted or another one."""
    then = _beside(cost.second_ns, cost.first_ns, unit=unit)
    return (
        mono(cost.entry.variant),
        text(" costs "),
        strong(figures.prose_time(cost.first_ns)),
        text(f" once, then {then}"),
    )


def _likewise(alike: Sequence[VisitCost]) -> tuple[Part, ...]:
    """`, and so does sdpa_cudnn`; nothing where nobody else is as dear."""
    if not alike:
        return ()
    return (text(f", and so {'does' if len(alike) == 1 else 'do'} "), *names([cost.entry.variant for cost in alike]))


def against(dear: VisitCost, other: VisitCost | None) -> tuple[Part, ...]:
    """`; sdpa_flash costs 0.04 at once`, in the dear one's unit where that reads well."""
    if other is None:
        return ()
    first = _beside(other.first_ns, dear.first_ns)
    if not other.pays:
        return (text("; "), mono(other.entry.variant), text(f" costs {first} at once"))
    then = _beside(other.second_ns, dear.first_ns)
    return (text("; "), mono(other.entry.variant), text(f" costs {first} once, then {then}"))


def axis_noun(workload: Workload, axis: str) -> str:
    """`KV length`; `sequence length` where queries and keys grow together; the axis itself where it is not known."""
    if axis == "seq_q" and workload.axes.get("seq_q") == workload.axes.get("seq_kv"):
        return "sequence length"
    known = {one.name: one.noun for one in catalog.operation(workload.operation).axes}
    return known.get(axis, axis)


def _each(noun: str) -> tuple[Part, ...]:
    return (text(f"At each new {noun} "),)


def _nobody_pays(noun: str, worst: VisitCost) -> tuple[Part, ...]:
    first = figures.prose_time(worst.first_ns)
    then = _beside(worst.second_ns, worst.first_ns)
    return (
        text(f"No variant pays for a new {noun}: the first visit takes about as long as the second ("),
        mono(worst.entry.variant),
        text(f" {first}, then {then})."),
    )


def _beside(ns: float, dear_ns: float, *, unit: bool = False) -> str:
    """A time in the unit of a dearer one, bare; in its own where that would leave nothing but zeros to read."""
    if dear_ns >= figures.NS_PER_S and ns < figures.NS_PER_S:
        return figures.prose_time(ns)
    scale, symbol = _unit(dear_ns)
    bare = figures.digits(ns / scale) if symbol != "µs" else f"{ns / scale:.1f}"
    return f"{bare} {symbol}" if unit else bare


def _unit(ns: float) -> tuple[float, str]:
    if ns >= figures.NS_PER_S:
        return figures.NS_PER_S, "s"
    return (figures.NS_PER_MS, "ms") if ns >= figures.NS_PER_MS else (figures.NS_PER_US, "µs")


def _value(run: Run | None, name: str) -> float | None:
    """None also for what is not positive: no foreign file makes us divide by it."""
    metric = run.metric(name) if run is not None else None
    return metric.value if metric is not None and metric.value > 0 else None
