"""Merging per pixel, against a plain loop over the same random slices."""

from __future__ import annotations

import numpy as np
import pytest

from app.timeline.merge import LEVELS, Merged, merge
from app.timeline.shown import Shown, show
from tests.app.timeline.random_timelines import random_timeline

WINDOWS = [(0, 1_000_000, 300), (200_000, 201_000, 1000), (-50, 999, 7), (999_000, 3_000_000, 40)]


def _plainly(shown: Shown, from_ns: int, to_ns: int, width: int) -> list[tuple[int, int, int, int, int]]:
    """(longest row, start, end, count, busy) of each column."""
    columns: list[tuple[int, int, int, int, int]] = []
    last: tuple[int, int, int, bool] | None = None
    pixel_ns = (to_ns - from_ns) / width
    for row in range(len(shown.start_ns)):
        start, duration = int(shown.start_ns[row]), int(shown.duration_ns[row])
        if start > to_ns or start + duration < from_ns:
            continue
        level = min(int(shown.depth[row]), LEVELS - 1)
        place = (int(shown.track[row]), level, int((start - from_ns) * (width / (to_ns - from_ns))), False)
        if duration >= pixel_ns or place != last:
            columns.append((row, start, start + duration, 1, duration))
        else:
            longest, begun, end, count, busy = columns[-1]
            longest = row if duration > int(shown.duration_ns[longest]) else longest
            columns[-1] = (longest, begun, max(end, start + duration), count + 1, busy + duration)
        last = None if duration >= pixel_ns else place
    return columns


def _listed(found: Merged) -> list[tuple[int, ...]]:
    columns = (found.row, found.start_ns, found.end_ns, found.count, found.busy_ns)
    return [tuple(int(value) for value in line) for line in zip(*columns, strict=True)]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_columns_are_those_of_a_plain_loop(seed: int, window: tuple[int, int, int]) -> None:
    shown = show(random_timeline(4_000, seed=seed))
    from_ns, to_ns, width = window
    assert _listed(merge(shown, from_ns=from_ns, to_ns=to_ns, width=width)) == _plainly(shown, *window)


def test_counts_and_times_add_up_to_those_of_the_slices_in_view() -> None:
    shown = show(random_timeline(20_000, seed=4))
    found = merge(shown, from_ns=100_000, to_ns=400_000, width=50)
    seen = (shown.start_ns <= 400_000) & (shown.start_ns + shown.duration_ns >= 100_000)
    assert found.count.sum() == seen.sum()
    assert found.busy_ns.sum() == shown.duration_ns[seen].sum()
    assert len(found.row) < seen.sum() / 4


def test_hits_are_counted_in_every_column() -> None:
    shown = show(random_timeline(5_000, seed=5))
    lit = np.array([False, True, False, False, False])
    found = merge(shown, from_ns=0, to_ns=1_000_000, width=20, lit=lit)
    seen = shown.start_ns <= 1_000_000
    assert found.hits.sum() == (shown.name[seen] == 1).sum() > 0


def test_a_window_without_slices_has_no_columns() -> None:
    shown = show(random_timeline(100, seed=6))
    assert _listed(merge(shown, from_ns=10**12, to_ns=10**12 + 5, width=100)) == []
