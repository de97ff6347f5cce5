"""Verdicts between variants: over builds, for a family of comparisons at once, with what speaks against them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from profiles.comparison.families import edge, levels, verdict
from profiles.comparison.figures import count
from profiles.comparison.stability import device_notes, drift, moves, sample_notes
from profiles.comparison.statistics import (
    CONFIDENCE,
    FEWEST_BUILDS,
    Estimate,
    build_medians,
    log_ratios,
    paired,
    unpaired,
)
from profiles.plan import Order, Plan
from profiles.results import Metric, Run
from profiles.verdict import VariantComparison, Verdict

USUAL_BUILDS = 8
UNSTABLE_MARGINS = 2.0
APART = "measured in different trials: a ratio, no verdict"
ISOLATED = "one process per variant, one after the other: what changed between them is not seen"
RESTARTED = "timed in two processes, one after the other: not compared build by build"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two that are compared: a run with the metric that it is compared by (its own, or its twin's)."""

    run: Run
    metric: Metric


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """`together`: measured in one trial, whose plan is `plan`."""

    before: Side
    after: Side
    plan: Plan
    together: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """What one side's samples say, worked out once for all its pairs. `medians` by build; None where not recorded."""

    medians: dict[int, float] | None
    moved: float
    notes: tuple[str, ...]


def comparisons(pairs: Sequence[Pair], *, confidence: float = CONFIDENCE) -> tuple[VariantComparison | None, ...]:
    """One family: each pair's comparison, in their order; None where a side does not tell the builds of its samples.

    The pairs' metrics are of one name. Holm's correction spans those that can have a verdict.
    """
    seen: dict[int, _Seen] = {}
    for pair in pairs:
        for side in (pair.before, pair.after):
            if id(side.metric) not in seen:
                seen[id(side.metric)] = _look(side, pair.plan)
    estimates = [_estimate(pair, seen) for pair in pairs]
    able = {
        i: one for i, one in enumerate(estimates) if one is not None and one.error is not None and pairs[i].together
    }
    found = levels(list(able.values()), [pairs[index].plan.margin for index in able], confidence=confidence)
    level = dict(zip(able, found, strict=True))
    return tuple(
        None if estimate is None else _comparison(pair, estimate, level.get(index), confidence, seen)
        for index, (pair, estimate) in enumerate(zip(pairs, estimates, strict=True))
    )


def _look(side: Side, plan: Plan) -> _Seen:
    metric = side.metric
    if metric.samples is None or metric.builds is None or len(metric.samples) != len(metric.builds):
        return _Seen(medians=None, moved=0.0, notes=())
    moved = drift(metric)
    return _Seen(
        medians=build_medians(metric.samples, metric.builds),
        moved=moved,
        notes=sample_notes(side.run, metric, moved, margin=plan.margin),
    )


def _estimate(pair: Pair, seen: Mapping[int, _Seen]) -> Estimate | None:
    before, after = (seen[id(side.metric)].medians for side in (pair.before, pair.after))
    if before is None or after is None:
        return None
    return (paired if _is_paired(pair) else unpaired)(before, after)


def _is_paired(pair: Pair) -> bool:
    """Whether the two were timed in turns: by one process, where they say by which."""
    return pair.together and pair.plan.order is Order.INTERLEAVED and len(_sessions(pair)) < 2


def _sessions(pair: Pair) -> set[str]:
    conditions = (side.run.conditions for side in (pair.before, pair.after))
    return {known.session for known in conditions if known is not None and known.session is not None}


def _comparison(
    pair: Pair, estimate: Estimate, level: float | None, confidence: float, seen: Mapping[int, _Seen]
) -> VariantComparison:
    sides = [seen[id(side.metric)] for side in (pair.before, pair.after)]
    moved = max(*(_unstable(side.moved, pair.plan.margin) for side in sides), _moved_apart(pair, sides))
    half = None if level is None else estimate.half_width(level)
    found = verdict(estimate.mean, half, margin=pair.plan.margin)
    return VariantComparison(
        baseline=pair.before.run.variant,
        candidate=pair.after.run.variant,
        metric=pair.after.metric.name,
        ratio=math.exp(estimate.mean) if estimate.builds else pair.before.metric.value / pair.after.metric.value,
        low=None if half is None else math.exp(estimate.mean - half),
        high=None if half is None else math.exp(estimate.mean + half),
        verdict=found if _outlasts(moved, estimate.mean, half, pair.plan.margin) else Verdict.UNDECIDED,
        margin=pair.plan.margin,
        builds=estimate.builds,
        confidence=confidence,
        notes=tuple(dict.fromkeys([*_setting(pair, estimate), *sides[0].notes, *sides[1].notes, *_device(pair)])),
    )


def _unstable(moved: float, margin: float) -> float:
    """How far a run drifted, where that is more than twice the margin. What drifts in both alike cancels, but a device
    whose speed changes that much is no longer the one that the ratio is asked of."""
    return abs(moved) if abs(moved) > UNSTABLE_MARGINS * edge(margin) else 0.0


def _moved_apart(pair: Pair, sides: Sequence[_Seen]) -> float:
    """How far the ratio itself moved from the first half of the builds to the second, where they show that."""
    if not _is_paired(pair) or sides[0].medians is None or sides[1].medians is None:
        return 0.0
    ratios = log_ratios(sides[0].medians, sides[1].medians)
    middle = len(ratios) // 2
    return abs(statistics.fmean(ratios[middle:]) - statistics.fmean(ratios[:middle])) if moves(ratios) else 0.0


def _outlasts(moved: float, mean: float, half: float | None, margin: float) -> bool:
    """Whether the drift could not have turned the verdict: it lies farther from the margin's edge than that goes."""
    return half is None or moved == 0 or abs(abs(mean) - edge(margin)) - half > moved


def _setting(pair: Pair, estimate: Estimate) -> Iterable[str]:
    if not pair.together:
        return [APART]
    few = [f"only {count(estimate.builds, 'build')}"] if estimate.builds < min(USUAL_BUILDS, pair.plan.builds) else []
    if estimate.builds < FEWEST_BUILDS:
        few = [f"only {count(estimate.builds, 'build')}: a verdict needs {FEWEST_BUILDS}"]
    return [*few, *([] if _is_paired(pair) else [ISOLATED if pair.plan.order is Order.ISOLATED else RESTARTED])]


def _device(pair: Pair) -> Iterable[str]:
    """Of each trial apart: between two, a clock neither falls nor rises."""
    before, after = pair.before.run.blocks, pair.after.run.blocks
    return device_notes((*before, *after)) if _is_paired(pair) else (*device_notes(before), *device_notes(after))
