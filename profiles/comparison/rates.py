"""What a device's ceilings say of one amount of work: how long it takes at least, and the sum in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from profiles.ceilings import Bandwidth, Ceilings
from profiles.comparison.figures import digits
from profiles.workload import DType

_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def bandwidth(ceilings: Ceilings, size_bytes: float, *, read_share: float | None, cold: bool) -> float | None:
    """GB/s at this size and mix: between measured sizes by the logarithm of the size, between mixes linearly, beyond
    the measured sizes as at the nearest. Without a known mix the fastest one; without cold figures the others."""
    points = [point for point in ceilings.bandwidths if point.cold == cold and point.gb_per_s > 0]
    if cold and not points:
        return bandwidth(ceilings, size_bytes, read_share=read_share, cold=False)
    by_share: dict[float, list[Bandwidth]] = {}
    for point in points:
        by_share.setdefault(point.read_share, []).append(point)
    at_size = sorted((share, _at_size(found, size_bytes)) for share, found in by_share.items())
    if not at_size or size_bytes <= 0:
        return None
    if read_share is None:
        return max(rate for _, rate in at_size)
    return _between(at_size, read_share)


def _at_size(points: Sequence[Bandwidth], size_bytes: float) -> float:
    known = sorted((math.log(point.size_bytes), point.gb_per_s) for point in points)
    return _between(known, math.log(max(size_bytes, 1.0)))


def _between(known: Sequence[tuple[float, float]], at: float) -> float:
    """Linearly between the neighbours of `at`, as the nearest beyond the ends."""
    if at <= known[0][0]:
        return known[0][1]
    for (left, low), (right, high) in pairwise(known):
        if at <= right:
            return low + (high - low) * (at - left) / (right - left)
    return known[-1][1]


def matmul_rate(ceilings: Ceilings, dtype: DType) -> float | None:
    """TFLOP/s, the best that was reached in this dtype."""
    return max((found.tflop_per_s for found in ceilings.matmuls if found.dtype is dtype), default=None)


def amount(value: float, unit: str) -> str:
    """`134 MB`, `17.2 GFLOP`, `67.1 M`: decimal prefixes, three digits."""
    for size, prefix in _PREFIXES:
        if value >= 0.9995 * size:
            return f"{digits(value / size)} {prefix}{unit}"
    return f"{value:,.0f} {unit}".rstrip()


def per_second(value: float, unit: str) -> str:
    """`4.30 TB/s`."""
    return f"{amount(value, unit)}/s"
