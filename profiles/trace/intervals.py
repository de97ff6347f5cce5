"""Lengths of unions of intervals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from profiles.trace.model import Int64s, Slices


class Overlap(NamedTuple):
    """`slices` began before an earlier one had ended; all are `time_ns` longer than their union."""

    slices: int
    time_ns: int


def union_ns(start_ns: Int64s, end_ns: Int64s) -> int:
    """The time covered by at least one interval; they come ordered by start."""
    if len(start_ns) == 0:
        return 0
    covered_until = np.concatenate([start_ns[:1], np.maximum.accumulate(end_ns)[:-1]])
    return int(np.maximum(end_ns - np.maximum(start_ns, covered_until), 0).sum())


def span_ns(slices: Slices, rows: Int64s) -> int | None:
    """From the first start to the last end; rows come ordered by start. None of nothing."""
    return int(slices.ends_ns(rows).max() - slices.start_ns[rows[0]]) if len(rows) else None


def stream_overlap(slices: Slices, rows: Int64s) -> Overlap:
    """Of slices with others of their own track; rows come ordered by start."""
    count = time_ns = 0
    by_track = rows[np.argsort(slices.track[rows], kind="stable")]
    for mine in np.split(by_track, np.flatnonzero(np.diff(slices.track[by_track])) + 1):
        start = slices.start_ns[mine]
        end = start + slices.duration_ns[mine]
        count += int((start[1:] < np.maximum.accumulate(end)[:-1]).sum())
        time_ns += int(slices.duration_ns[mine].sum()) - union_ns(start, end)
    return Overlap(count, time_ns)
