"""When enough builds are measured: every comparison is known to half of the margin, or the budget is spent."""

from __future__ import annotations

from collections.abc import Iterable

from profiles.comparison.statistics import build_medians, half_width
from profiles.measure.samples import Series


def decided(pairs: Iterable[tuple[Series, Series]], *, margin: float) -> bool:
    """Whether each pair's ratio is known so well: the 99 % half-width over its builds is at most half the margin.

    Without pairs there is nothing to decide.
    """
    return all(_known(baseline, candidate, within=margin / 2) for baseline, candidate in pairs)


def _known(baseline: Series, candidate: Series, *, within: float) -> bool:
    half = half_width(
        build_medians(baseline.values, baseline.builds), build_medians(candidate.values, candidate.builds)
    )
    return half is not None and half <= within
