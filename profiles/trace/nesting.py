"""Intervals that lie within each other: which one was open at a moment, and began last."""

from __future__ import annotations

import numpy as np

from profiles.trace.model import ABSENT, Int64s

_NEVER = np.iinfo(np.int64).min


class Nesting:
    """Of intervals that come ordered by track, then start, the outer first.

    One that outlasts what it lies in, as rounded times make it, stays open until its own end. By a tree of the latest
    ends: a large trace has 100,000 intervals, and threads whose outermost ones lie far apart.
    """

    def __init__(self, track: Int64s, end_ns: Int64s) -> None:
        self._track = track
        self._latest = [end_ns]
        while len(self._latest[-1]) > 1:
            even = np.append(self._latest[-1], [_NEVER] * (len(self._latest[-1]) % 2))
            self._latest.append(np.maximum(even[::2], even[1::2]))

    def open_at(self, *, track: Int64s, at_ns: Int64s, before: Int64s) -> Int64s:
        """For each moment of a track the last of the first `before` intervals that had not ended, ABSENT for none."""
        found = np.full(len(before), ABSENT, np.int64)
        asked = np.flatnonzero(before > 0)
        bound, after_ns = before[asked], at_ns[asked]
        for level, latest in enumerate(self._latest):
            last = (bound & 1) == 1
            hit = np.flatnonzero(last)
            hit = hit[latest[bound[hit] - 1] > after_ns[hit]]
            found[asked[hit]] = self._descend(level, bound[hit] - 1, after_ns[hit])
            left = bound > 1
            left[hit] = False
            asked, bound, after_ns = asked[left], bound[left] >> 1, after_ns[left]
        known = np.flatnonzero(found != ABSENT)
        elsewhere = known[self._track[found[known]] != track[known]]
        found[elsewhere] = ABSENT
        return found

    def _descend(self, level: int, node: Int64s, after_ns: Int64s) -> Int64s:
        """The last interval beneath each node of that level that ends later."""
        for latest in self._latest[:level][::-1]:
            second = np.minimum(2 * node + 1, len(latest) - 1)
            node = np.where(latest[second] > after_ns, second, 2 * node)
        return node
