"""Intervals over builds, against scipy's own and by what must hold for any numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from profiles.comparison.statistics import UPPER_QUARTILE, build_medians, half_width, paired, student, tail, unpaired

TIMES = st.lists(st.floats(1.0, 1e9), min_size=3, max_size=30)


def by_build(values: list[float]) -> dict[int, float]:
    return dict(enumerate(values))


def test_the_median_of_each_build_is_of_its_own_samples() -> None:
    assert build_medians([5.0, 1.0, 3.0, 10.0, 20.0], [7, 7, 7, 2, 2]) == {7: 3.0, 2: 15.0}


def test_samples_without_a_build_are_refused() -> None:
    with pytest.raises(ValueError, match="3 samples with 2 builds"):
        build_medians([1.0, 2.0, 3.0], [0, 0])


@pytest.mark.parametrize("duration_ns", [10_004.0, 10_008.0, 10_023.0])
def test_a_clock_that_ticks_every_32_ns_does_not_move_the_time_of_a_build(duration_ns: float) -> None:
    generator = np.random.default_rng(5)
    starts = generator.uniform(0, 1e6, 20 * 40)
    samples = 32 * (np.floor((starts + duration_ns) / 32) - np.floor(starts / 32))
    found = build_medians(samples.tolist(), np.repeat(np.arange(20), 40).tolist())
    rounded = 32 * round(duration_ns / 32)
    assert np.mean(list(found.values())) == pytest.approx(duration_ns, abs=4)
    assert abs(rounded - duration_ns) > 6, "what plain medians say"


def test_equal_samples_alone_are_their_own_median() -> None:
    assert build_medians([7.0, 7.0, 7.0], [0, 0, 1]) == {0: 7.0, 1: 7.0}


def test_two_builds_have_no_interval() -> None:
    assert half_width({0: 1.0, 1: 1.1}, {0: 1.0, 1: 1.0, 2: 1.0}) is None


def test_only_common_builds_count() -> None:
    one, other = {0: 1.0, 1: 1.1, 2: 0.9, 5: 100.0}, {0: 1.0, 1: 1.0, 2: 1.0, 6: 1.0}
    assert paired(one, other).builds == 3
    assert half_width(one, other) == half_width({k: one[k] for k in (0, 1, 2)}, other)


@given(one=TIMES, other=TIMES)
def test_swapping_the_two_turns_the_ratio_round_and_keeps_the_interval(one: list[float], other: list[float]) -> None:
    there, back = paired(by_build(one), by_build(other)), paired(by_build(other), by_build(one))
    assert there.mean == pytest.approx(-back.mean, abs=1e-12)
    assert there.half_width(0.99) == pytest.approx(back.half_width(0.99))


@given(one=TIMES, factor=st.floats(0.01, 100.0))
def test_a_unit_changes_nothing(one: list[float], factor: float) -> None:
    other = [value * 1.01 for value in reversed(one)]
    before, after = (
        paired(by_build(one), by_build(other)),
        paired(by_build([value * factor for value in one]), by_build([value * factor for value in other])),
    )
    assert before.mean == pytest.approx(after.mean, abs=1e-9)
    assert before.half_width(0.99) == pytest.approx(after.half_width(0.99), abs=1e-9)


@given(drift=st.lists(st.floats(0.5, 2.0), min_size=10, max_size=10))
def test_what_moves_both_alike_cancels(drift: list[float]) -> None:
    """A clock that falls during the trial says nothing about which of the two is faster."""
    one, other = [100.0 * by for by in drift], [98.0 * by for by in drift]
    found = paired(by_build(one), by_build(other))
    assert math.exp(found.mean) == pytest.approx(100 / 98)
    assert found.half_width(0.99) == pytest.approx(0, abs=1e-9)


@given(values=st.lists(st.floats(-0.1, 0.1), min_size=3, max_size=30))
def test_independent_builds_have_the_interval_of_students_t_and_dependent_ones_a_wider_one(
    values: list[float],
) -> None:
    found = paired(by_build([100 * math.exp(value) for value in values]), by_build([100.0] * len(values)))
    half = student(0.99, len(values) - 1) * float(stats.sem(values))
    width = found.half_width(0.99)
    assert width is not None
    assert width >= half - 1e-9
    deviations = np.array(values) - np.mean(values)
    alike = float(deviations[1:] @ deviations[:-1]) / max(float(deviations @ deviations), 1e-300)
    if alike + UPPER_QUARTILE / math.sqrt(len(values)) <= 0:
        assert width == pytest.approx(half, abs=1e-9)


def test_builds_that_resemble_their_neighbours_widen_the_interval() -> None:
    rising = [100 * 1.001**step for step in range(20)]
    shuffled = [rising[7 * step % 20] for step in range(20)]
    steady = by_build([100.0] * 20)
    wide, narrow = half_width(by_build(rising), steady), half_width(by_build(shuffled), steady)
    assert wide is not None
    assert narrow is not None
    assert wide > 2 * narrow


def test_runs_of_separate_processes_are_compared_by_welch() -> None:
    one, other = [0.02, 0.01, 0.03, 0.0, 0.02, 0.01], [0.10, 0.0, 0.2, 0.05, 0.01]
    found = unpaired(*(by_build([math.exp(value) for value in values]) for values in (one, other)))
    expected = stats.ttest_ind(one, other, equal_var=False).confidence_interval(0.99)
    half = found.half_width(0.99)
    assert half is not None
    assert (found.mean - half, found.mean + half) == pytest.approx((expected.low, expected.high))
    assert found.builds == 5


def test_the_quantile_and_the_tail_of_students_t_belong_together() -> None:
    assert student(0.99, 7) == pytest.approx(3.4995, abs=1e-4)
    assert tail(student(0.99, 7), 7) == pytest.approx(0.01)


@settings(max_examples=50)
@given(zero=st.sampled_from([0.0, -1.0]))
def test_times_that_are_not_positive_are_left_out(zero: float) -> None:
    assert paired({0: zero, 1: 1.0, 2: 1.1, 3: 1.2}, {0: 1.0, 1: 1.0, 2: 1.0, 3: 1.0}).builds == 3
