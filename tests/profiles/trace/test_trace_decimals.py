"""Exact times from texts."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles.trace.decimals import nanoseconds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"0", 0),
        (b"12", 12_000),
        (b"1.5", 1_500),
        (b"0.001", 1),
        (b"1712195495519689.063", 1_712_195_495_519_689_063),
        (b"5374633891234.567", 5_374_633_891_234_567),
        (b"-3.25", -3_250),
        (b"1e3", 1_000_000),
        (b"1.2345e+2", 123_450),
        (b'"7.25"', 7_250),
        (b"12.", 12_000),
        (b"0.0004", 0),
        (b"0.0005", 1),
        (b"41.40699999", 41_407),
    ],
)
def test_a_text_in_microseconds_becomes_whole_nanoseconds(text: bytes, expected: int) -> None:
    values, valid = nanoseconds([text])
    assert valid.all()
    assert values.tolist() == [expected]


@pytest.mark.parametrize("text", [b"", b"null", b"inf", b"NaN", b'"soon"', b"1.2.3", b"18446744073709551.615", b"\xff"])
def test_what_is_no_number_or_too_large_is_not_valid(text: bytes) -> None:
    values, valid = nanoseconds([b"1", text])
    assert valid.tolist() == [True, False]
    assert values.tolist() == [1000, 0]


@given(st.lists(st.decimals(0, 10**13, allow_nan=False, places=3), min_size=1, max_size=20))
def test_every_time_with_three_decimals_is_exact(times: list[Decimal]) -> None:
    values, valid = nanoseconds([format(time, "f").encode() for time in times])
    assert valid.all()
    assert values.tolist() == [int(time * 1000) for time in times]


@given(st.lists(st.decimals(-(10**12), 10**12, allow_nan=False, places=6), min_size=1, max_size=20))
def test_finer_times_are_rounded_to_the_nearest_nanosecond(times: list[Decimal]) -> None:
    values, valid = nanoseconds([format(time, "f").encode() for time in times])
    assert valid.all()
    assert all(abs(value - time * 1000) <= Decimal("0.5") for value, time in zip(values.tolist(), times, strict=True))


@given(st.lists(st.decimals(10**14, 2 * 10**16, allow_nan=False, places=3), min_size=1, max_size=20))
def test_times_near_the_largest_are_exact_or_not_valid(times: list[Decimal]) -> None:
    values, valid = nanoseconds([format(time, "f").encode() for time in times])
    assert valid.tolist() == [time * 1000 <= 2**63 - 1 for time in times]
    assert all(
        value == (time * 1000 if ok else 0) for value, time, ok in zip(values.tolist(), times, valid, strict=True)
    )
