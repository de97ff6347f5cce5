"""SQLite's columns hold any type, whatever they declare: whole numbers out of them, and which rows have none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from profiles.trace.model import ABSENT, Bools, Int64s

_FARTHEST_NS = 2**62  # 146 years: sums of a start and a duration still fit int64


@dataclass(frozen=True, slots=True)
class Times:
    """`malformed` rows hold something else than whole ns, or more than a recording can last; `known` ones are neither
    that nor without a start or an end."""

    start_ns: Int64s
    duration_ns: Int64s
    known: Bools
    malformed: Bools


def times(starts: Sequence[object], ends: Sequence[object]) -> Times:
    start_ns, has_start, odd_start = _nanoseconds(starts)
    end_ns, has_end, odd_end = _nanoseconds(ends)
    known = has_start & has_end
    return Times(
        start_ns=start_ns,
        duration_ns=np.where(known, end_ns - start_ns, 0),
        known=known,
        malformed=odd_start | odd_end,
    )


def whole(values: Sequence[object]) -> Int64s:
    """ABSENT where there is no whole number."""
    if set(map(type, values)) <= {int}:
        return np.array(values, np.int64)
    return np.array([value if isinstance(value, int) else ABSENT for value in values], np.int64)


def _nanoseconds(values: Sequence[object]) -> tuple[Int64s, Bools, Bools]:
    types = list(map(type, values))
    number = np.array([kind is int for kind in types], np.bool_)
    odd = ~number & np.array([kind is not type(None) for kind in types], np.bool_)
    found = whole(values)
    far = (found < -_FARTHEST_NS) | (found > _FARTHEST_NS)
    return np.where(far, 0, found), number & ~far, odd | far
