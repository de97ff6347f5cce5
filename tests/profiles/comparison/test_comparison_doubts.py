"""Doubts that all runs share are told once."""

from __future__ import annotations

from profiles.comparison.caveat import caveat
from profiles.comparison.doubts import shared_doubts, shared_notes, single_doubts
from profiles.comparison.entry import MeasuredEntry, entries_of
from profiles.comparison.table import completeness
from profiles.results import Run
from tests.profiles.comparison.builds import doubted
from tests.profiles.comparison.ladder import ladder_runs, results

SHORT = "only 120 samples in 6 of 8 builds fitted into the budget"
NAIVE, AUTO = ladder_runs()[0], ladder_runs()[2]


def entries(*runs: Run) -> tuple[MeasuredEntry, ...]:
    return entries_of(results(*runs))


BOTH = entries(doubted(NAIVE, "gpu_time", SHORT), doubted(AUTO, "gpu_time", SHORT))


def test_a_reason_that_every_run_has_for_a_metric_is_shared() -> None:
    assert shared_doubts(BOTH) == {"gpu_time": SHORT}
    assert single_doubts(BOTH) == 0


def test_a_reason_of_some_runs_is_not_shared() -> None:
    some = entries(doubted(NAIVE, "gpu_time", SHORT), AUTO)
    assert shared_doubts(some) == {}
    assert single_doubts(some) == 1


def test_different_reasons_are_not_shared() -> None:
    two = entries(doubted(NAIVE, "gpu_time", SHORT), doubted(AUTO, "gpu_time", "the clock fell"))
    assert shared_doubts(two) == {}


def test_a_run_alone_shares_nothing() -> None:
    assert shared_doubts(entries(doubted(NAIVE, "gpu_time", SHORT))) == {}
    assert shared_notes([["only 6 builds"]]) == ()


def test_notes_that_stand_everywhere_are_shared_in_their_order() -> None:
    assert shared_notes([["b", "a", "c"], ["a", "b"]]) == ("b", "a")


def test_completeness_tells_shared_doubts_from_single_ones() -> None:
    counts = completeness(entries(doubted(doubted(NAIVE, "gpu_time", SHORT), "peak_memory", "odd"), BOTH[1].run))
    assert (counts.doubtful, counts.doubtful_in_all) == (1, 1)


def test_a_doubt_about_every_time_is_not_told_as_that_of_the_winner() -> None:
    found = caveat(BOTH)
    assert found is not None
    assert "".join(part.text for part in found.parts) == f"Every GPU time here: {SHORT}."
