"""The rule by which timing stops, and its verdicts, on simulated noise of every kind.

Fewer comparisons than benchmarks/simulated_verdicts.py makes, so that it stays quick: what is allowed here is the share
that is allowed there, rounded up to the next whole comparison.
"""

from __future__ import annotations

import numpy as np
import pytest

from profiles.verdict import Verdict
from tests.profiles.comparison.simulation import SCENARIOS, measure, realistic

COMPARISONS = 100


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_variant_is_hardly_ever_faster_or_slower_than_itself(name: str) -> None:
    generator = np.random.default_rng(1)
    verdicts = [measure(SCENARIOS[name], generator).comparison.verdict for _ in range(COMPARISONS)]
    assert verdicts.count(Verdict.FASTER) + verdicts.count(Verdict.SLOWER) <= 1


def test_intervals_hold_the_truth_and_two_percent_are_found_at_realistic_noise() -> None:
    generator = np.random.default_rng(2)
    outcomes = [measure(realistic, generator, ratio=1.02) for _ in range(200)]
    found = [outcome.comparison for outcome in outcomes]
    held = sum(one.low is not None and one.high is not None and one.low <= 1.02 <= one.high for one in found)
    assert held >= 196
    assert sum(one.verdict is Verdict.FASTER for one in found) >= 190


def test_equal_variants_are_found_equivalent_and_timing_stops_before_the_budget() -> None:
    generator = np.random.default_rng(3)
    outcomes = [measure(realistic, generator, most_builds=80) for _ in range(50)]
    assert sum(outcome.comparison.verdict is Verdict.EQUIVALENT for outcome in outcomes) >= 45
    assert np.median([outcome.builds for outcome in outcomes]) < 60
