"""The text of one axis."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.forms import sweep
from profiles import catalog

SEQ = next(axis for axis in catalog.ATTENTION.axes if axis.name == "seq_q")
CAUSAL = next(axis for axis in catalog.ATTENTION.axes if axis.name == "causal")
MODEL = next(axis for axis in catalog.DECODER_PREFILL.axes if axis.name == "model")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1024", (1024,)),
        ("512, 1024,2048", (512, 1024, 2048)),
        ("512…515", (512, 513, 514, 515)),
        ("512..514", (512, 513, 514)),
        ("512-514", (512, 513, 514)),
        ("1000…1400 step 200", (1000, 1200, 1400)),
        ("2048, 512…513, 2048", (2048, 512, 513)),
        ("1_024", (1024,)),
    ],
)
def test_values_lists_and_ranges_are_read(text: str, values: tuple[int, ...]) -> None:
    assert sweep.values(SEQ, text) == values


def test_flags_and_choices_are_read() -> None:
    assert sweep.values(CAUSAL, "true") == (True,)
    assert sweep.values(MODEL, "qwen2.5-1.5b") == ("qwen2.5-1.5b",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "seq_q is empty"),
        ("abc", "'abc'"),
        ("0", "from 1 to"),
        ("-5", "'-5'"),
        ("2000…1000", "from the smaller to the larger"),
        ("1…1000000", "at most 256 values"),
        ("1…10 step 0", "from the smaller to the larger"),
        ("9" * 400, "from 1 to"),
        ("1.5", "'1.5'"),
        ("٣", "'٣'"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_is_accepted(text: str, reason: str) -> None:
    with pytest.raises(sweep.SweepError, match=reason):
        sweep.values(SEQ, text)


def test_an_unknown_choice_names_the_accepted_ones() -> None:
    with pytest.raises(sweep.SweepError, match=r"accepted are tiny, qwen2\.5-0\.5b"):
        sweep.values(MODEL, "gpt-9")


@given(st.lists(st.integers(1, SEQ.most), min_size=1, max_size=40, unique=True))
def test_written_values_are_read_back(numbers: list[int]) -> None:
    assert sweep.values(SEQ, sweep.written(numbers)) == tuple(numbers)


@given(st.text(max_size=60))
def test_any_text_gives_values_within_the_axis_or_is_refused(text: str) -> None:
    with suppress(sweep.SweepError):
        assert all(isinstance(value, int) and 1 <= value <= SEQ.most for value in sweep.values(SEQ, text))
