"""What is said of two variants that have no winner: as fast as each other, or not to be told apart, and why."""

from __future__ import annotations

import math

from profiles.comparison import figures
from profiles.comparison.entry import Entry
from profiles.comparison.families import verdict
from profiles.comparison.parts import Part, muted, text
from profiles.comparison.speed import TITLES, By, SpeedUp, Timed
from profiles.comparison.statistics import FEWEST_BUILDS
from profiles.comparison.verdicts import APART
from profiles.verdict import VariantComparison, Verdict


def close_sentence(
    one_called: tuple[Part, ...], base_called: tuple[Part, ...], one: Timed[Entry], base: Timed[Entry], gain: SpeedUp
) -> tuple[Part, ...]:
    """Of a variant and its baseline, called by their names, where neither is faster."""
    both = (*one_called, text(" and "), *base_called)
    if gain.judged is None:
        return (*both, *_overlapping(one, base))
    if gain.equivalent:
        margin = figures.percent(gain.judged.margin)
        return (
            *both,
            text(f" differ by less than the margin of {margin}"),
            muted(f": {_known(gain.judged)}"),
            text("."),
        )
    if APART in gain.judged.notes:
        ratio = figures.ratio(gain.judged.ratio)
        return (
            *both,
            text(f" were measured in different trials: {ratio} by their medians, without a verdict. "),
            text("Measure both in one job to decide."),
        )
    return (*both, text(" cannot be told apart: "), *_undecided(gain.judged))


def _overlapping(one: Timed[Entry], base: Timed[Entry]) -> tuple[Part, ...]:
    unit = figures.time_unit(one.entry.workload)
    medians = f"{unit.write(one.metric.value)} and {unit.write(base.metric.value)} {unit.symbol}"
    return (
        text(" cannot be told apart by this measurement"),
        muted(f" (medians {medians} of {TITLES[By(one.metric.name)]}, with overlapping spreads)"),
        text(". More samples may decide."),
    )


def _undecided(judged: VariantComparison) -> tuple[Part, ...]:
    after = f" after {figures.count(judged.builds, 'build')}"
    if judged.builds < FEWEST_BUILDS:
        return (text(f"{_known(judged)}{after}. A verdict needs {FEWEST_BUILDS}; a longer budget may decide."),)
    if _is_unstable(judged):
        return (text(f"{_known(judged)}{after}, but {figures.listed(judged.notes)}. Measure again."),)
    told = f"; {figures.listed(judged.notes)}" if judged.notes else ""
    return (text(f"{_known(judged)}{after}{told}. A longer budget may decide."),)


def _is_unstable(judged: VariantComparison) -> bool:
    """Whether the interval alone would decide: then it is what the notes say that speaks against it."""
    if judged.low is None or judged.high is None:
        return False
    low, high = math.log(judged.low), math.log(judged.high)
    return verdict((low + high) / 2, (high - low) / 2, margin=judged.margin) is not Verdict.UNDECIDED


def _known(judged: VariantComparison) -> str:
    return figures.close_ratio(judged.ratio, judged.low, judged.high)
