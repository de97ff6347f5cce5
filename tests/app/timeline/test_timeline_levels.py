"""Slices that overlap on a stream: on levels, where none hides another, and all of them work."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from app.timeline.levels import ROUNDED_NS, stream_levels
from app.timeline.ranges import summarise
from app.timeline.shown import Part, show
from profiles.trace.timeline import Timeline
from tests.app.timeline.drawn import timeline_of_run
from tests.profiles.comparison.ladder import ladder_runs


def _levels(*spans: tuple[int, int]) -> list[int]:
    start, end = np.array(spans, np.int64).T
    return stream_levels(start, end).tolist()


def test_slices_one_after_the_other_share_a_level() -> None:
    assert _levels((0, 10_000), (10_000, 20_000), (20_000, 20_000), (20_500, 30_000)) == [0, 0, 0, 0]


def test_a_slice_that_overlaps_its_forerunner_or_lies_within_it_has_a_level_of_its_own() -> None:
    assert _levels((0, 10_000), (7_000, 15_000), (13_000, 20_000), (30_000, 40_000)) == [0, 1, 0, 0]
    assert _levels((0, 10_000), (9_500, 9_600), (9_700, 9_700)) == [0, 1, 1]


def test_what_rounding_makes_overlap_stays_on_one_level() -> None:
    assert _levels((0, 10_000), (10_000 - ROUNDED_NS, 20_000)) == [0, 0]
    assert _levels((0, 10_000), (10_000 - ROUNDED_NS - 1, 20_000)) == [0, 1]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_two_slices_of_a_level_overlap_by_more_than_rounding(seed: int) -> None:
    random = np.random.default_rng(seed)
    start = np.sort(random.integers(0, 400_000, 300))
    end = start + random.integers(0, 9_000, 300)
    level = stream_levels(start, end)
    assert level.max() > 2
    for one in range(int(level.max()) + 1):
        own = np.flatnonzero(level == one)
        assert (end[own][:-1] - start[own][1:] <= ROUNDED_NS).all()
        assert (np.diff(end[own]) > 0).all()


def test_overlapping_kernels_are_all_counted_in_a_range() -> None:
    drawn = _overlapping()
    shown = show(drawn, Part.ALL)
    kernels = shown.tracks[shown.track[-1]].depth
    assert kernels == 2
    assert summarise(shown, -(10**12), 10**12).slices == (drawn.track == 1).sum()


def _overlapping() -> Timeline:
    """The ladder's first run, each of its kernels 2 µs longer, so that the next begins before it ends."""
    drawn = timeline_of_run(ladder_runs()[0])
    return replace(drawn, duration_ns=np.where(drawn.track == 1, drawn.duration_ns + 2_000, drawn.duration_ns))
