"""The ceilings of a GPU: sane for any that runs this, near the data sheet of one that is in the table."""

from __future__ import annotations

import time
from functools import cache

import pytest
import torch

from profiles.ceilings import Bandwidth, Ceilings
from profiles.datasheet import datasheet
from profiles.measure.ceiling_clocks import DeviceClock
from profiles.measure.ceilings import measure_ceilings
from profiles.measure.device import take_device
from profiles.measure.exponentials import exponential_rate
from profiles.workload import DType

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"),
]


@cache
def measured() -> tuple[Ceilings, float]:
    device = take_device("cuda:0")
    start = time.perf_counter()
    return measure_ceilings(device), time.perf_counter() - start


def rates(*, cold: bool, share: float) -> list[Bandwidth]:
    found = [b for b in measured()[0].bandwidths if b.cold == cold and b.read_share == share]
    return sorted(found, key=lambda b: b.size_bytes)


def test_all_ceilings_take_about_four_seconds() -> None:
    ceilings, seconds = measured()
    print(f"\n{seconds:.2f} s", ceilings, sep="\n")
    assert seconds < 8  # loading libraries included


def test_every_part_was_measured() -> None:
    ceilings, _ = measured()
    assert len(ceilings.bandwidths) == len({(b.size_bytes, b.read_share, b.cold) for b in ceilings.bandwidths}) >= 32
    assert {rate.dtype for rate in ceilings.matmuls} == set(DType)
    assert ceilings.l2_bytes
    assert ceilings.launch_ns
    assert ceilings.exp_per_s


def test_a_copy_far_beyond_the_cache_reaches_most_of_the_memorys_bandwidth_and_no_more_than_all_of_it() -> None:
    sheet = datasheet(torch.cuda.get_device_name(0))
    largest = rates(cold=True, share=0.5)[-1]
    assert largest.gb_per_s > 100
    if sheet is not None:
        assert 0.6 * sheet.gb_per_s < largest.gb_per_s < 1.02 * sheet.gb_per_s


def test_what_is_in_the_cache_is_read_faster_than_what_is_not() -> None:
    within = 16 << 20
    warm = next(b for b in rates(cold=False, share=1.0) if b.size_bytes == within)
    cold = next(b for b in rates(cold=True, share=1.0) if b.size_bytes == within)
    assert warm.gb_per_s > cold.gb_per_s


def test_half_precision_matmuls_come_near_the_data_sheet_and_fp32_ones_are_slower() -> None:
    sheet = datasheet(torch.cuda.get_device_name(0))
    best = {rate.dtype: rate.tflop_per_s for rate in measured()[0].matmuls if not rate.tf32}
    assert best[DType.BF16] > 2 * best[DType.FP32]
    if sheet is not None:
        assert 0.5 * sheet.tflop_per_s[DType.BF16] < best[DType.BF16] < 1.1 * sheet.tflop_per_s[DType.BF16]


def test_exponentials_take_the_special_function_units_time_not_the_memorys() -> None:
    """Sixteen a cycle and multiprocessor since compute capability 7.0; half of that at least, at the clock found."""
    device = take_device("cuda:0")
    found = exponential_rate(device, DeviceClock(device))
    assert found is not None
    properties = torch.cuda.get_device_properties(device)
    at_1_ghz = 16e9 * properties.multi_processor_count
    assert 0.5 * at_1_ghz < found < 3.5 * at_1_ghz


def test_an_empty_kernel_follows_another_within_microseconds() -> None:
    launch_ns = measured()[0].launch_ns
    assert launch_ns is not None
    assert 300 < launch_ns < 10_000


def test_the_precision_of_fp32_matmuls_is_left_as_it_was() -> None:
    measured()
    assert torch.get_float32_matmul_precision() == "highest"
