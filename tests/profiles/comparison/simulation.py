"""Simulated measurements, and the rule by which timing stops: what verdicts are checked with beyond any one device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from profiles.comparison.statistics import build_medians, half_width
from profiles.comparison.verdicts import Pair, Side, comparisons
from profiles.plan import Plan
from profiles.results import Metric
from profiles.verdict import VariantComparison
from tests.profiles.comparison.builds import run, sampled

SAMPLES_PER_BUILD = 5
MOST_BUILDS = 40
PLAN = Plan()

Deviations = NDArray[np.float64]  # logarithms, [2 sides, builds, samples]
Scenario = Callable[[np.random.Generator, int], Deviations]


def _normal(generator: np.random.Generator, builds: int, *, build: float, sample: float) -> Deviations:
    per_build = generator.normal(0, build, (2, builds, 1))
    return per_build + generator.normal(0, sample, (2, builds, SAMPLES_PER_BUILD))


def realistic(generator: np.random.Generator, builds: int) -> Deviations:
    """0.5 % per sample, 0.2 % per build."""
    return _normal(generator, builds, build=0.002, sample=0.005)


def noisy(generator: np.random.Generator, builds: int) -> Deviations:
    return _normal(generator, builds, build=0.02, sample=0.05)


def dependent(generator: np.random.Generator, builds: int) -> Deviations:
    """Each sample nine tenths of the one before, through all builds of its side."""
    steps = generator.normal(0, 0.01 * np.sqrt(1 - 0.9**2), (2, builds * SAMPLES_PER_BUILD))
    series = np.empty_like(steps)
    series[:, 0] = generator.normal(0, 0.01, 2)
    for step in range(1, steps.shape[1]):
        series[:, step] = 0.9 * series[:, step - 1] + steps[:, step]
    return series.reshape(2, builds, SAMPLES_PER_BUILD) + generator.normal(0, 0.002, (2, builds, 1))


def drifting(generator: np.random.Generator, builds: int) -> Deviations:
    """Both grow slower or faster by some 5 %, as with a clock."""
    way = generator.normal(0, 0.05) * np.linspace(0, 1, builds)[None, :, None]
    return _normal(generator, builds, build=0.002, sample=0.005) + way


def heavy_tailed(generator: np.random.Generator, builds: int) -> Deviations:
    """Student's t with 2 degrees of freedom per sample, and with 1.5 per build: outliers of any size."""
    per_build = 0.002 * generator.standard_t(1.5, (2, builds, 1))
    return per_build + 0.005 * generator.standard_t(2, (2, builds, SAMPLES_PER_BUILD))


def bimodal(generator: np.random.Generator, builds: int) -> Deviations:
    """Three samples in ten are 3 % slower."""
    slow = 0.03 * (generator.random((2, builds, SAMPLES_PER_BUILD)) < 0.3)
    return _normal(generator, builds, build=0.002, sample=0.003) + slow


def bimodal_builds(generator: np.random.Generator, builds: int) -> Deviations:
    """Three builds in ten are 3 % slower, as with unlucky addresses."""
    slow = 0.03 * (generator.random((2, builds, 1)) < 0.3)
    return _normal(generator, builds, build=0.002, sample=0.003) + slow


SCENARIOS: dict[str, Scenario] = {
    scenario.__name__: scenario
    for scenario in (
        realistic,
        noisy,
        dependent,
        drifting,
        heavy_tailed,
        bimodal,
        bimodal_builds,
    )
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """`comparison` as it is told; `builds` were measured before timing stopped."""

    comparison: VariantComparison
    builds: int


def measure(
    scenario: Scenario, generator: np.random.Generator, *, ratio: float = 1.0, most_builds: int = MOST_BUILDS
) -> Outcome:
    """One comparison of two variants, the second `ratio` times as fast: build by build until the half-width is at most
    half the margin, or `most_builds` is what the budget allows. A family of one."""
    deviations = scenario(generator, most_builds)
    deviations[1] -= np.log(ratio)
    sides = [sampled("gpu_time", side) for side in deviations]
    stopped = _stop(sides, most_builds)
    first, second = (_first(metric, stopped) for metric in sides)
    pair = Pair(
        before=Side(run=run("a", first), metric=first), after=Side(run=run("b", second), metric=second), plan=PLAN
    )
    (found,) = comparisons([pair])
    assert found is not None
    return Outcome(found, stopped)


def _stop(sides: list[Metric], most_builds: int) -> int:
    medians = [build_medians(metric.samples or (), metric.builds or ()) for metric in sides]
    for builds in range(PLAN.builds, most_builds):
        before, after = ({build: side[build] for build in range(builds)} for side in medians)
        half = half_width(before, after)
        if half is not None and half <= PLAN.margin / 2:
            return builds
    return most_builds


def _first(metric: Metric, builds: int) -> Metric:
    """As if timing had stopped after so many builds."""
    count = builds * SAMPLES_PER_BUILD
    samples = (metric.samples or ())[:count]
    return Metric(
        name=metric.name,
        unit=metric.unit,
        statistic=metric.statistic,
        value=float(np.median(samples)),
        samples=samples,
        builds=(metric.builds or ())[:count],
        at_s=(metric.at_s or ())[:count],
    )
