"""From samples to metrics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from profiles.results import Metric

SPREAD = "p25-p75"


def time_metric(
    name: str,
    samples_ns: Sequence[float],
    *,
    builds: Sequence[int] | None = None,
    at_s: Sequence[float] | None = None,
    method: str | None = None,
    doubt: str | None = None,
) -> Metric:
    """The median of a repeated time with its quartiles. Samples keep six digits: clocks tell no more."""
    low, median, high = np.percentile(samples_ns, (25, 50, 75))
    return Metric(
        name=name,
        unit="ns",
        statistic="median",
        value=_rounded(median),
        low=_rounded(low),
        high=_rounded(high),
        interval=SPREAD,
        samples=tuple(_rounded(sample) for sample in samples_ns),
        builds=None if builds is None else tuple(builds),
        at_s=None if at_s is None else tuple(round(at, 3) for at in at_s),
        method=method,
        doubt=doubt,
    )


def rate_metric(name: str, unit: str, *, amount: float, time: Metric) -> Metric:
    """`amount` per second at the median of `time`, whose name the statistic keeps; its spread and doubts carry over."""
    return Metric(
        name=name,
        unit=unit,
        statistic=f"at median {time.name}",
        value=_rounded(amount / time.value * 1e9),
        low=None if time.high is None else _rounded(amount / time.high * 1e9),
        high=None if time.low is None else _rounded(amount / time.low * 1e9),
        interval=time.interval,
        doubt=time.doubt,
    )


def single_metric(
    name: str, unit: str, value: float, *, statistic: str = "single", method: str | None = None
) -> Metric:
    return Metric(name=name, unit=unit, statistic=statistic, value=float(value), method=method)


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")
