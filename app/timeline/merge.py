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
    seen = (shown.start_ns <= to_ns) & (shown.start_ns + shown.duration_ns >= from_ns)
    # Copies of all columns are most of the time where nothing is left out: views then.
    places = np.flatnonzero(seen) if not seen.all() else slice(None)
    start, duration, name = shown.start_ns[places], shown.duration_ns[places], shown.name[places]
    if not len(start):
        nothing = np.empty(0, np.int64)
        return Merged(np.empty(0, np.intp), nothing, nothing, nothing, nothing, nothing)
    per_ns = width / (to_ns - from_ns)
    first = _firsts(
        band=_bands(shown.track[places], shown.depth[places]),
        pixel=((start - from_ns) * per_ns).astype(np.int64),
        wide=duration >= (to_ns - from_ns) / width,
    )
    count = np.diff(first, append=len(start))
    longest = _longest(duration, first, count)
    return Merged(
        row=longest if isinstance(places, slice) else places[longest],
        start_ns=start[first],
        end_ns=np.maximum.reduceat(start + duration, first),
        count=count,
        busy_ns=np.add.reduceat(duration, first),
        hits=np.zeros(len(first), np.int64) if lit is None else np.add.reduceat(lit[name].astype(np.int64), first),
    )


def _bands(track: npt.NDArray[np.uint16], depth: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32]:
    """One number for each level of each track that the canvas tells apart."""
    return track * np.uint32(LEVELS) + np.minimum(depth, LEVELS - 1)


def _firsts(
    *, band: npt.NDArray[np.uint32], pixel: npt.NDArray[np.int64], wide: npt.NDArray[np.bool_]
) -> npt.NDArray[np.intp]:
    """Where a new column begins: slices are ordered by track, depth and start, so that each column is one stretch."""
    begins = np.ones(len(band), dtype=bool)
    begins[1:] = (pixel[1:] != pixel[:-1]) | (band[1:] != band[:-1]) | wide[1:] | wide[:-1]
    return np.flatnonzero(begins)


def _longest(
    duration: npt.NDArray[np.int64], first: npt.NDArray[np.intp], count: npt.NDArray[np.int64]
) -> npt.NDArray[np.intp]:
    """The place of the longest of each column, the first of equals."""
    if len(first) == len(duration):
        return first
    most = np.repeat(np.maximum.reduceat(duration, first), count)
    places = np.flatnonzero(duration == most)
    return np.asarray(places[np.searchsorted(places, first)], dtype=np.intp)
