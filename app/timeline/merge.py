"""Slices merged per pixel: of a timeline too large to send, what a picture of some width can show, and exact counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from app.timeline.shown import Shown

LEVELS = 5  # levels of nesting that the canvas draws


@dataclass(frozen=True, slots=True)
class Merged:
    """One entry per column. A slice of a pixel or more is a column of its own; shorter neighbours share one.

    `row` is the longest slice of each, a row of what was merged; `end_ns` is that of the last to end; `count` sums to
    the slices in view, `busy_ns` to their durations, `hits` to those whose name is lit.
    """

    row: npt.NDArray[np.intp]
    start_ns: npt.NDArray[np.int64]
    end_ns: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]
    busy_ns: npt.NDArray[np.int64]
    hits: npt.NDArray[np.int64]


def merge(shown: Shown, *, from_ns: int, to_ns: int, width: int, lit: npt.NDArray[np.bool_] | None = None) -> Merged:
    """What touches from_ns ≤ t ≤ to_ns, in pixels of (to_ns - from_ns) / width; `lit` tells it of each name."""
    ends = shown.start_ns + shown.duration_ns
    seen = np.flatnonzero((shown.start_ns <= to_ns) & (ends >= from_ns))
    if not len(seen):
        nothing = np.empty(0, np.int64)
        return Merged(np.empty(0, np.intp), nothing, nothing, nothing, nothing, nothing)
    start, duration = shown.start_ns[seen], shown.duration_ns[seen]
    per_ns = width / (to_ns - from_ns)
    pixel = np.floor((start - from_ns) * per_ns).astype(np.int64)
    first = _firsts(shown, seen, pixel=pixel, wide=duration * per_ns >= 1)
    count = np.diff(first, append=len(seen))
    longest = _longest(duration, first, count)
    lit_row = np.zeros(len(seen), np.int64) if lit is None else lit[shown.name[seen]].astype(np.int64)
    return Merged(
        row=seen[longest],
        start_ns=start[first],
        end_ns=np.maximum.reduceat(start + duration, first),
        count=count,
        busy_ns=np.add.reduceat(duration, first),
        hits=np.add.reduceat(lit_row, first),
    )


def _firsts(
    shown: Shown, seen: npt.NDArray[np.intp], *, pixel: npt.NDArray[np.int64], wide: npt.NDArray[np.bool_]
) -> npt.NDArray[np.intp]:
    """Where a new column begins: slices are ordered by track, depth and start, so that each column is one stretch."""
    level = np.minimum(shown.depth, LEVELS - 1)[seen]
    track = shown.track[seen]
    begins = np.ones(len(seen), dtype=bool)
    begins[1:] = (pixel[1:] != pixel[:-1]) | (track[1:] != track[:-1]) | (level[1:] != level[:-1])
    begins[1:] |= wide[1:] | wide[:-1]
    return np.flatnonzero(begins)


def _longest(
    duration: npt.NDArray[np.int64], first: npt.NDArray[np.intp], count: npt.NDArray[np.int64]
) -> npt.NDArray[np.intp]:
    """The place of the longest of each column, the first of equals."""
    most = np.repeat(np.maximum.reduceat(duration, first), count)
    places = np.flatnonzero(duration == most)
    return np.asarray(places[np.searchsorted(places, first)], dtype=np.intp)
