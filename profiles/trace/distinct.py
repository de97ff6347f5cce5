"""Which columns of numbers are different: what `np.unique(axis=1)` does, without comparing them as texts of bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from profiles.trace.model import Int64s

_MOST = 2**62


class Distinct(NamedTuple):
    """Of columns [rows, n]: `first` is the place of each different one's first appearance, in the order of their
    numbers from the first row on; `which` is each column's place among them, `counts` how often each is there."""

    first: Int64s
    which: Int64s
    counts: Int64s


def distinct(*rows: Int64s) -> Distinct:
    """The rows are numbers of things, from -1 on."""
    _, first, which, counts = np.unique(_packed(rows), return_index=True, return_inverse=True, return_counts=True)
    return Distinct(first, which.reshape(-1), counts)


def _packed(rows: Sequence[Int64s]) -> Int64s:
    """One number for each column, in the same order."""
    packed, size = rows[0] + 1, int(rows[0].max(initial=-1)) + 2
    for row in rows[1:]:
        span = int(row.max(initial=-1)) + 2
        if size * span > _MOST:
            different, packed = np.unique(packed, return_inverse=True)
            size = len(different)
        packed, size = packed * span + row + 1, size * span
    return packed
