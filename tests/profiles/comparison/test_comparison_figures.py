"""How numbers, counts and workloads are written."""

from __future__ import annotations

import pytest

from profiles.comparison import figures
from profiles.comparison.figures import MICROSECONDS, MILLISECONDS
from profiles.workload import DType, Workload
from tests.profiles.comparison.ladder import WORKLOAD
from tests.profiles.comparison.other import DECODER, NORM, SWIGLU


@pytest.mark.parametrize(
    ("value", "written"),
    [(25.387, "25.4×"), (7.602, "7.60×"), (0.4459, "0.45×"), (9.996, "10.0×"), (1240.4, "1,240×"), (0.0123, "0.012×")],
)
def test_ratio_has_three_significant_digits(value: float, written: str) -> None:
    assert figures.ratio(value) == written


@pytest.mark.parametrize(
    ("ns", "written"), [(178_500, "178.5 µs"), (47.8e6, "47.8 ms"), (4.5315e6, "4.53 ms"), (8.2e9, "8.20 s")]
)
def test_time_in_prose_takes_the_unit_that_suits_it(ns: float, written: str) -> None:
    assert figures.prose_time(ns) == written


def test_range_is_written_once_where_both_ends_read_the_same() -> None:
    assert MICROSECONDS.span(178_100, 178_900) == "178.1–178.9"
    assert MICROSECONDS.span(25_995, 26_004) == "26.0"


def test_whole_models_are_written_in_ms() -> None:
    assert figures.time_unit(DECODER) is MILLISECONDS
    assert figures.time_unit(WORKLOAD) is MICROSECONDS


@pytest.mark.parametrize(
    ("number", "noun", "written"),
    [(1, "kernel", "1 kernel"), (1383, "kernel", "1,383 kernels"), (2, "copy", "2 copies")],
)
def test_counts_agree_with_their_noun(number: int, noun: str, written: str) -> None:
    assert figures.count(number, noun) == written


@pytest.mark.parametrize(
    ("workload", "label"),
    [
        (WORKLOAD, "B8 H16 S2048 D64, causal, bf16"),
        (SWIGLU, "8192×2048, hidden 5632, bf16"),
        (NORM, "8192×2048, bf16"),
        (DECODER, "qwen2.5-1.5b, prefill 4×2048, bf16"),
    ],
)
def test_workload_is_named_by_what_matters(workload: Workload, label: str) -> None:
    assert figures.workload_label(workload) == label


def test_grouped_heads_and_other_key_lengths_are_named() -> None:
    axes = {**WORKLOAD.axes, "kv_heads": 4, "seq_kv": 4096, "causal": False}
    workload = Workload(operation="attention", dtype=DType.FP16, axes=axes)
    assert figures.workload_label(workload) == "B8 H16 KV4 S2048 SKV4096 D64, fp16"


def test_tiny_share_is_not_rounded_to_nothing() -> None:
    assert figures.whole_percent(0.001) == "< 1 %"


@pytest.mark.parametrize(
    ("low", "high", "written"),
    [
        (25.31, 25.52, "25.3–25.5×"),
        (25.41, 25.44, "25.41–25.44×"),
        (1.03, 19.0, "1.03–19.0×"),
        (0.0441, 0.0467, "0.044–0.047×"),
        (2.0, 2.0, "2.0000×"),
    ],
)
def test_an_interval_of_a_ratio_tells_its_ends_apart(low: float, high: float, written: str) -> None:
    assert figures.ratio_range(low, high) == written


def test_a_tiny_bound_of_a_ratio_is_not_written_as_nothing() -> None:
    assert figures.ratio_range(0.0002, 6159.0) == "0.0002–6,159×"


def test_an_interval_near_one_can_keep_three_decimals() -> None:
    assert figures.ratio_range(0.996, 1.028, places=3) == "0.996–1.028×"


@pytest.mark.parametrize(
    ("low", "high", "written"), [(0.015, 0.019, "1.5–1.9 %"), (0.17, 0.19, "17–19 %"), (0.171, 0.173, "17.1–17.3 %")]
)
def test_an_interval_of_shares_tells_its_ends_apart(low: float, high: float, written: str) -> None:
    assert figures.percent_range(low, high) == written


@pytest.mark.parametrize(("size", "written"), [(0, "0"), (24_576, "0.023"), (209_715, "0.2"), (32 << 20, "32")])
def test_little_memory_is_not_written_as_none(size: float, written: str) -> None:
    assert figures.mib(size) == written


@pytest.mark.parametrize(
    ("value", "low", "high", "written"),
    [
        (1.0123, 0.9957, 1.0281, "1.012× (0.996–1.028×)"),
        (1.0123, None, None, "1.012×"),
        (1.4, 0.9, 2.1, "1.400× (0.90–2.10×)"),
        (25.387, 25.31, 25.46, "25.4× (25.3–25.5×)"),
    ],
)
def test_a_ratio_near_one_has_the_decimals_that_the_margin_is_about(
    value: float, low: float | None, high: float | None, written: str
) -> None:
    assert figures.close_ratio(value, low, high) == written
    assert low is None or f"({figures.close_range(low, high)})" in written
