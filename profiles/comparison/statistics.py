"""Intervals of ratios over builds: the arithmetic behind stopping and verdicts, on plain numbers. No torch.

A *build* is the replicate: fresh buffers, timed for a while. Samples of one build are alike in ways that the next one
is not (addresses, clocks), so they only make the build's median steadier; what counts is how builds differ.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

CONFIDENCE = 0.99
FEWEST_BUILDS = 3
"""Below, a spread over builds says next to nothing (with 2 the 99 % quantile of Student's t is 64)."""
MOST_DEPENDENCE = 0.9
UPPER_QUARTILE = 0.675
"""Of the standard normal distribution. Few builds know their autocorrelation badly (its error is 1 ÷ √builds), and not
to see it is the dearer mistake."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Of ln(baseline ÷ candidate): its mean over `builds` replicates, the mean's standard error, and the degrees of
    freedom that this error is known with. `error` is None with fewer than three builds."""

    mean: float
    error: float | None
    freedom: float
    builds: int

    def half_width(self, confidence: float) -> float | None:
        return None if self.error is None else self.error * student(confidence, self.freedom)

    def beyond(self, distance: float) -> float:
        """The two-sided probability that chance moves the mean by `distance` (log scale); 1 where that is unknown."""
        if self.error is None:
            return 1.0
        return tail(distance / self.error, self.freedom) if self.error > 0 else float(distance <= 0)


def build_medians(samples: Sequence[float], builds: Sequence[int]) -> dict[int, float]:
    """The median of each build's samples, in the samples' unit. `builds` tells of each sample where it was taken.

    A device's clock ticks (every 32 ns on an H200): within equal samples the median is interpolated, as that of a
    grouped frequency distribution. Rounded to a tick it would be wrong in the same way in every build.
    """
    if len(samples) != len(builds):
        raise ValueError(f"{len(samples)} samples with {len(builds)} builds; each sample needs its own")
    grouped: dict[int, list[float]] = {}
    for sample, build in zip(samples, builds, strict=True):
        grouped.setdefault(build, []).append(sample)
    tick = _tick(samples)
    return {build: _median(taken, tick) for build, taken in grouped.items()}


def _median(taken: list[float], tick: float) -> float:
    """Interpolated where its value was measured more than once."""
    middle = statistics.median(taken)
    return statistics.median_grouped(taken, tick) if taken.count(middle) > 1 else middle


def _tick(samples: Sequence[float]) -> float:
    """The least distance between different samples where some are equal; 0 where the clock is finer than the noise."""
    distinct = sorted(set(samples))
    if len(distinct) in (1, len(samples)):
        return 0.0
    return min(after - before for before, after in pairwise(distinct))


def half_width(
    baseline: Mapping[int, float], candidate: Mapping[int, float], *, confidence: float = CONFIDENCE
) -> float | None:
    """Half of the interval of ln(baseline ÷ candidate), by Student's t over the builds that both have.

    The values are positive times, by build (of each build its median). None with fewer than three common builds.
    """
    return paired(baseline, candidate).half_width(confidence)


def paired(baseline: Mapping[int, float], candidate: Mapping[int, float]) -> Estimate:
    """From the builds that both have: what moves both alike (a clock, another program) cancels within a build.

    Builds that follow each other may be alike all the same. The error grows by √((1 + r) ÷ (1 − r)), the factor of a
    first-order autoregressive series, where r, the upper quartile of their lag-1 autocorrelation, is positive.
    """
    ratios = log_ratios(baseline, candidate)
    mean, deviation = _mean_and_deviation(ratios)
    if len(ratios) < FEWEST_BUILDS:
        return Estimate(mean, None, 0.0, len(ratios))
    error = deviation / math.sqrt(len(ratios)) * _inflation(ratios, mean)
    return Estimate(mean, error, len(ratios) - 1, len(ratios))


def log_ratios(baseline: Mapping[int, float], candidate: Mapping[int, float]) -> list[float]:
    """ln(baseline ÷ candidate) of each build that both have, in the order of the builds."""
    return [math.log(baseline[build] / candidate[build]) for build in sorted(_usable(baseline) & _usable(candidate))]


def unpaired(baseline: Mapping[int, float], candidate: Mapping[int, float]) -> Estimate:
    """By Welch's t, from builds that ran at different times; `builds` is the smaller number of the two."""
    sides = [[math.log(times[build]) for build in sorted(_usable(times))] for times in (baseline, candidate)]
    (one, one_deviation), (other, other_deviation) = (_mean_and_deviation(side) for side in sides)
    fewest = min(len(side) for side in sides)
    if fewest < FEWEST_BUILDS:
        return Estimate(one - other, None, 0.0, fewest)
    one_part = (one_deviation * _inflation(sides[0], one)) ** 2 / len(sides[0])
    other_part = (other_deviation * _inflation(sides[1], other)) ** 2 / len(sides[1])
    whole = one_part + other_part
    shares = one_part**2 / (len(sides[0]) - 1) + other_part**2 / (len(sides[1]) - 1)
    return Estimate(one - other, math.sqrt(whole), whole**2 / shares if shares > 0 else fewest - 1, fewest)


@lru_cache(maxsize=4096)
def student(confidence: float, freedom: float) -> float:
    """The two-sided quantile of Student's t."""
    from scipy.special import stdtrit  # noqa: PLC0415 - a page that compares nothing does not wait for it

    return float(stdtrit(freedom, 0.5 + confidence / 2))


def tail(distance: float, freedom: float) -> float:
    """The two-sided probability that Student's t lies farther from 0 than `distance`."""
    from scipy.special import stdtr  # noqa: PLC0415 - as above

    return float(2 * stdtr(freedom, -abs(distance)))


def _usable(times: Mapping[int, float]) -> set[int]:
    """No foreign file makes us take the logarithm of nothing."""
    return {build for build, time in times.items() if time > 0}


def _mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    if not values:
        return 0.0, 0.0
    mean = math.fsum(values) / len(values)
    squares = math.fsum((value - mean) ** 2 for value in values)
    return mean, math.sqrt(squares / max(1, len(values) - 1))


def _inflation(values: Sequence[float], mean: float) -> float:
    squares = math.fsum((value - mean) ** 2 for value in values)
    if squares == 0:
        return 1.0
    products = math.fsum((a - mean) * (b - mean) for a, b in pairwise(values))
    alike = min(MOST_DEPENDENCE, max(0.0, products / squares + UPPER_QUARTILE / math.sqrt(len(values))))
    return math.sqrt((1 + alike) / (1 - alike))
