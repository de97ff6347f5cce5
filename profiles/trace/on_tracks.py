"""Some of a trace's slices track by track: which one of a track came last before a place in the trace, or first after.

By bisection for all that are asked at once: a trace has up to 10,000 tracks, which no loop should go through.
"""

from __future__ import annotations

import numpy as np

from profiles.trace.model import ABSENT, Int64s, Slices


class OnTracks:
    """Of the slices `rows`, which come in the order of the trace."""

    def __init__(self, slices: Slices, rows: Int64s) -> None:
        self.rows = rows[np.argsort(slices.track[rows], kind="stable")]
        self._slices, self._track = slices, slices.track[self.rows]
        self._keys = self._key(self._track, self.rows)

    def before(self, track: Int64s, row: Int64s) -> Int64s:
        """How many there are ahead of each of these rows, on its track or on tracks of lower numbers."""
        found: Int64s = np.searchsorted(self._keys, self._key(track, row))
        return found

    def last_before(self, track: Int64s, row: Int64s) -> Int64s:
        """The last one of the track ahead of each of these rows; ABSENT for none."""
        return self._on(track, self.before(track, row) - 1)

    def first_from(self, track: Int64s, row: Int64s) -> Int64s:
        """The first one of the track from each of these rows on; ABSENT for none."""
        return self._on(track, self.before(track, row))

    def _key(self, track: Int64s, row: Int64s) -> Int64s:
        """By track, then place in the trace, whose end is a place too."""
        keys: Int64s = track * (len(self._slices) + 1) + row
        return keys

    def _on(self, track: Int64s, place: Int64s) -> Int64s:
        found = np.full(len(place), ABSENT, np.int64)
        there = np.flatnonzero((place >= 0) & (place < len(self.rows)))
        there = there[self._track[place[there]] == track[there]]
        found[there] = self.rows[place[there]]
        return found
