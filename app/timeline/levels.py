"""Slices that overlap on one stream, put on levels so that none hides another."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

ROUNDED_NS = 1_000  # recordings in whole µs let neighbours overlap by as much
DEEPEST = 255

Int64s = npt.NDArray[np.int64]


def stream_levels(start_ns: Int64s, end_ns: Int64s) -> npt.NDArray[np.uint8]:
    """The level of each, 0 where nothing else runs; slices come ordered by start. A slice goes to the first level whose
    last one it neither overlaps by more than rounding nor lies within."""
    level = np.zeros(len(start_ns), np.uint8)
    reached = np.maximum.accumulate(end_ns)[:-1]
    apart = np.ones(len(start_ns), np.bool_)
    apart[1:] = start_ns[1:] >= reached
    hidden = np.zeros(len(start_ns), np.bool_)
    hidden[1:] = ~apart[1:] & ((reached - start_ns[1:] > ROUNDED_NS) | (end_ns[1:] <= reached))
    if not hidden.any():
        return level
    group = np.cumsum(apart)
    crowded = np.zeros(int(group[-1]) + 1, np.bool_)
    crowded[group[hidden]] = True
    rows = np.flatnonzero(crowded[group])
    ends: list[int] = []
    for row, alone, start, end in zip(
        rows.tolist(), apart[rows].tolist(), start_ns[rows].tolist(), end_ns[rows].tolist(), strict=True
    ):
        if alone:
            ends = []
        place = next((at for at, last in enumerate(ends) if last - start <= ROUNDED_NS and end > last), len(ends))
        ends[place : place + 1] = [end]
        level[row] = min(place, DEEPEST)
    return level
