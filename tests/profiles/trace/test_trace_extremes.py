"""Times whose sums and differences would not fit 64 bits, numbers of thousands of digits, and very many rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from profiles.trace.errors import TraceTooLarge
from profiles.trace.model import Trace
from profiles.trace.summary import summarise
from profiles.trace.timeline import timeline

if TYPE_CHECKING:
    from conftest import Draft

ReadDraft = Callable[["Draft"], Trace]
YEAR_2116_US = 4_611_686_018_427_387


def test_kernels_of_146_years_are_invalid(draft: Draft, read_draft: ReadDraft) -> None:
    draft.gpu(100, 5, 1)
    for number in range(2, 5):
        draft.gpu(100 + number, YEAR_2116_US, number)
    summary = summarise(read_draft(draft))
    assert (summary.kernels, summary.kernel_sum_ns) == (1, 5_000)
    assert [(found.code, found.count) for found in summary.health if "invalid" in found.code] == [
        ("invalid_records", 3)
    ]


def test_of_so_many_long_kernels_that_their_sum_does_not_fit_only_the_short_ones_count(
    draft: Draft, read_draft: ReadDraft
) -> None:
    for number in range(500):
        draft.gpu(number, 2**53 // 1000 - 1, number)
    assert summarise(read_draft(draft)).kernel_sum_ns == 500 * (2**53 // 1000 - 1) * 1000
    for number in range(500, 1100):
        draft.gpu(number, 5, number)
        draft.gpu(number, 2**53 // 1000 - 1, number)
    assert summarise(read_draft(draft)).kernel_sum_ns == 600 * 5_000


@pytest.mark.parametrize("first", [-YEAR_2116_US, -(2**60) // 1000 + 1])
def test_starts_that_are_far_apart_give_no_negative_span(draft: Draft, read_draft: ReadDraft, first: int) -> None:
    draft.gpu(first, 1, 1)
    draft.gpu(YEAR_2116_US, 1_000_000, 2)
    trace = read_draft(draft)
    summary, drawn = summarise(trace), timeline(trace)
    assert summary.gpu_span_ns is not None
    assert summary.gpu_span_ns >= 1_000_000_000
    assert drawn.start_ns.min() == 0
    assert summary.gpu_span_ns == int(drawn.start_ns[-1]) + 1_000_000_000


def test_a_stream_numbered_with_thousands_of_digits_is_a_track_like_others(draft: Draft, read_draft: ReadDraft) -> None:
    draft.gpu(100, 5, 1)
    draft.events[0]["args"]["stream"] = "9" * 5000
    (track,) = timeline(read_draft(draft)).tracks
    assert track.name == f"GPU 0 · stream {'9' * 5000}"


def test_more_rows_than_a_timeline_can_number_are_refused(draft: Draft, read_draft: ReadDraft) -> None:
    for stream in range(10_000):
        draft.gpu(stream + 1, 5, stream, stream=stream)
    trace = read_draft(draft)
    assert len(timeline(trace).tracks) == 10_000
    assert summarise(trace).stream_overlap_ns == 0
    draft.gpu(20_000, 5, 10_000, stream=10_000)
    with pytest.raises(TraceTooLarge, match=r"^more streams and threads than the limit of 10,000$"):
        read_draft(draft)
