"""Lengths of unions of intervals."""

from __future__ import annotations

import numpy as np

from profiles.trace.model import Int64s


def union_ns(start_ns: Int64s, end_ns: Int64s) -> int:
    """The time covered by at least one interval; they come ordered by start."""
    if len(start_ns) == 0:
        return 0
    covered_until = np.concatenate([start_ns[:1], np.maximum.accumulate(end_ns)[:-1]])
    return int(np.maximum(end_ns - np.maximum(start_ns, covered_until), 0).sum())
