"""Verdicts of families: Holm's levels, and that an interval and its verdict never contradict each other."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles.comparison.families import LOOKS, edge, levels, verdict
from profiles.comparison.statistics import Estimate
from profiles.verdict import Verdict

MARGIN = 0.005
ESTIMATES = st.builds(
    Estimate,
    mean=st.floats(-0.05, 0.05),
    error=st.one_of(st.none(), st.floats(1e-6, 0.05)),
    freedom=st.integers(2, 80).map(float),
    builds=st.integers(3, 81),
)


def estimate(mean: float, error: float | None = 0.001, freedom: float = 20.0) -> Estimate:
    return Estimate(mean=mean, error=error, freedom=freedom, builds=int(freedom) + 1)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.006, 0.02, Verdict.FASTER),
        (-0.02, -0.006, Verdict.SLOWER),
        (-0.004, 0.004, Verdict.EQUIVALENT),
        (0.001, 0.02, Verdict.UNDECIDED),
        (-0.02, 0.02, Verdict.UNDECIDED),
        (0.004, 0.006, Verdict.UNDECIDED),
    ],
)
def test_a_verdict_needs_the_whole_interval_beyond_the_margin_or_within(
    low: float, high: float, expected: Verdict
) -> None:
    assert verdict((low + high) / 2, (high - low) / 2, margin=MARGIN) is expected


def test_without_an_interval_nothing_is_decided() -> None:
    assert verdict(3.0, None, margin=MARGIN) is Verdict.UNDECIDED


def test_one_comparison_is_corrected_for_the_looks_alone() -> None:
    assert levels([estimate(1.0)], [MARGIN]) == pytest.approx([1 - 0.01 / LOOKS])


def test_the_clearest_pays_for_the_whole_family_and_the_next_for_the_rest() -> None:
    found = levels([estimate(0.1), estimate(0.5), estimate(0.0054)], [MARGIN] * 3)
    chance = 0.01 / LOOKS
    assert found == pytest.approx([1 - chance / 2, 1 - chance / 3, 1 - chance])


def test_after_the_first_undecided_all_share_its_level() -> None:
    found = levels([estimate(0.0054), estimate(0.5), estimate(0.0055)], [MARGIN] * 3)
    chance = 0.01 / LOOKS
    assert found == pytest.approx([1 - chance / 2, 1 - chance / 3, 1 - chance / 2])


@given(estimates=st.lists(ESTIMATES, min_size=1, max_size=8))
def test_no_level_is_laxer_than_a_lone_comparisons_nor_stricter_than_bonferronis(estimates: list[Estimate]) -> None:
    chance = 0.01 / LOOKS
    for level in levels(estimates, [MARGIN] * len(estimates)):
        assert 1 - chance - 1e-12 <= level <= 1 - chance / len(estimates) + 1e-12


@given(estimates=st.lists(ESTIMATES, min_size=1, max_size=8))
def test_who_passes_holms_procedure_is_decided_by_its_interval_and_nobody_else(estimates: list[Estimate]) -> None:
    """The step-down procedure written out with p-values agrees with the intervals at the levels."""
    found = levels(estimates, [MARGIN] * len(estimates))
    decided = [
        verdict(one.mean, one.half_width(level), margin=MARGIN) is not Verdict.UNDECIDED
        for one, level in zip(estimates, found, strict=True)
    ]
    chance, passing = 0.01 / LOOKS, True
    doubts = {index: one.beyond(abs(abs(one.mean) - edge(MARGIN))) for index, one in enumerate(estimates)}
    for place, index in enumerate(sorted(doubts, key=doubts.__getitem__)):
        threshold = chance / (len(doubts) - place)
        passing = passing and doubts[index] < threshold
        if not math.isclose(doubts[index], threshold, rel_tol=1e-6):
            assert decided[index] == passing


def test_more_comparisons_decide_less() -> None:
    lone = estimate(0.0054 + 0.0032)
    alone = levels([lone], [MARGIN])[0]
    among = levels([lone, *[estimate(0.0052) for _ in range(20)]], [MARGIN] * 21)[0]
    assert verdict(lone.mean, lone.half_width(alone), margin=MARGIN) is Verdict.FASTER
    assert verdict(lone.mean, lone.half_width(among), margin=MARGIN) is Verdict.UNDECIDED
