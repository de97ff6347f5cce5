"""Intervals of ratios over builds: the arithmetic behind stopping and verdicts, on plain numbers. No torch.

A *build* is the replicate: fresh buffers, timed for a while. Samples of one build are alike in ways that the next one
is not (addresses, clocks), so they only make the build's median steadier; what counts is how builds differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

CONFIDENCE = 0.99
FEWEST_BUILDS = 3
"""Below, a spread over builds says next to nothing (with 2 the 99 % quantile of Student's t is 64)."""


def build_medians(samples: Sequence[float], builds: Sequence[int]) -> dict[int, float]:
    """The median of each build's samples, in the samples' unit. `builds` tells of each sample where it was taken."""
    taken = np.asarray(samples, dtype=np.float64)
    where = np.asarray(builds, dtype=np.int64)
    if taken.shape != where.shape:
        raise ValueError(f"{len(taken)} samples with {len(where)} builds; each sample needs its own")
    return {int(build): float(np.median(taken[where == build])) for build in np.unique(where)}


def log_ratios(baseline: Mapping[int, float], candidate: Mapping[int, float]) -> list[float]:
    """ln(baseline ÷ candidate) of each build that both have, in the order of the builds."""
    common = sorted(baseline.keys() & candidate.keys())
    return [math.log(baseline[build] / candidate[build]) for build in common]


def half_width(
    baseline: Mapping[int, float], candidate: Mapping[int, float], *, confidence: float = CONFIDENCE
) -> float | None:
    """Half of the interval of ln(baseline ÷ candidate), by Student's t over the builds that both have.

    The values are positive times, by build (of each build its median). None with fewer than three common builds.
    """
    ratios = log_ratios(baseline, candidate)
    if len(ratios) < FEWEST_BUILDS:
        return None
    return float(np.std(ratios, ddof=1)) / math.sqrt(len(ratios)) * student(confidence, len(ratios) - 1)


@lru_cache(maxsize=4096)
def student(confidence: float, freedom: float) -> float:
    """The two-sided quantile of Student's t."""
    from scipy.special import stdtrit  # noqa: PLC0415 - a page that compares nothing does not wait for it

    return float(stdtrit(freedom, 0.5 + confidence / 2))
