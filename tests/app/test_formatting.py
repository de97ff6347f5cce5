"""Counts, sizes, spans and moments, as people read them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from app import formatting

NOW = datetime(2026, 11, 28, 14, 22, 8, tzinfo=UTC)


def test_a_count_that_was_not_recorded_is_a_dash_and_never_zero() -> None:
    assert formatting.count(None) == "–"
    assert formatting.count(0) == "0"
    assert formatting.count(2112) == "2,112"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (25.41, "25.4"),
        (7.6, "7.60"),
        (0.45, "0.45"),
        (254.3, "254"),
        (99.97, "100"),
        (9.996, "10.0"),
        (0.0452, "0.0452"),
    ],
)
def test_three_digits_are_kept(value: float, text: str) -> None:
    assert formatting.three_digits(value) == text


def test_memory_changes_its_unit_at_ten_gibibytes() -> None:
    assert formatting.memory(2112 * formatting.MIB) == "2,112 MiB"
    assert formatting.memory(139.8 * formatting.GIB) == "139.8 GiB"


def test_an_error_has_no_leading_zero_in_its_exponent() -> None:
    assert formatting.error(2.04e-3) == "2.0e-3"
    assert formatting.error(1.5e-12) == "1.5e-12"
    assert formatting.error(0.0) == "0"
    assert formatting.error(None) == "–"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.42, "0.4 s"), (38.2, "38 s"), (72, "1 min 12 s"), (120, "2 min"), (59.7, "1 min"), (7500, "2 h 5 min")],
)
def test_a_span_names_at_most_two_units(value: float, text: str) -> None:
    assert formatting.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.2, "about 1 s"), (7.4, "about 7 s"), (41, "about 40 s"), (95, "about 2 min"), (170, "about 3 min")],
)
def test_an_expectation_is_rounded(value: float, text: str) -> None:
    assert formatting.about(value) == text


def test_a_moment_is_told_in_the_readers_zone() -> None:
    east = timezone(timedelta(hours=10))
    assert formatting.moment(NOW) == "28 Nov 2026, 14:22"
    assert formatting.moment(NOW, east) == "29 Nov 2026, 00:22"
    assert formatting.clock(NOW, east) == "00:22:08"


@pytest.mark.parametrize(
    ("before", "text"),
    [
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=4), "4 min ago"),
        (timedelta(hours=2), "2 h ago"),
        (timedelta(hours=20), "yesterday"),
        (timedelta(days=2), "26 Nov"),
        (timedelta(days=400), "24 Oct 2025"),
    ],
)
def test_how_long_ago_is_coarser_the_longer_it_is(before: timedelta, text: str) -> None:
    assert formatting.ago(NOW - before, NOW) == text


def test_yesterday_is_the_readers_yesterday() -> None:
    three_hours = NOW - timedelta(hours=3)
    assert formatting.ago(three_hours, NOW) == "3 h ago"
    assert formatting.ago(three_hours, NOW, timezone(timedelta(hours=-13))) == "yesterday"


def test_large_numbers_are_shortened() -> None:
    assert formatting.thousands(169_123) == "169k"
    assert formatting.thousands(1_250_000) == "1.25M"
    assert formatting.thousands(812.4) == "812"


def test_one_is_singular() -> None:
    assert [formatting.plural(n, "run") for n in (0, 1, 1200)] == ["0 runs", "1 run", "1,200 runs"]
    assert formatting.plural(2, "copy", "copies") == "2 copies"
