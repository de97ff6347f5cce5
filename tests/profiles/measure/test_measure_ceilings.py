"""The ceilings of the processor that the tests run on, and who hears of them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

from profiles.ceilings import Bandwidth, Ceilings
from profiles.measure.ceiling_clocks import SAMPLES, HostClock
from profiles.measure.ceilings import MIB, ON_CPU, measure_ceilings, undisturbed
from profiles.protocol import CeilingsMeasured, Started
from profiles.workload import DType
from tests.profiles.measure.child import Heard, heard_to_the_end, started

PLANS_SECONDS = 15  # some 2 s on a machine that does nothing else


class Measured(NamedTuple):
    ceilings: Ceilings
    seconds: float


@pytest.fixture(scope="module")
def measured() -> Measured:
    start = time.perf_counter()
    return Measured(measure_ceilings(torch.device("cpu")), time.perf_counter() - start)


def test_a_processors_ceilings_take_a_few_seconds(measured: Measured) -> None:
    assert measured.seconds < 10 * PLANS_SECONDS, "a few seconds where nothing else runs"


def test_a_processor_moves_between_a_hundred_megabytes_and_ten_terabytes_a_second(measured: Measured) -> None:
    found = measured.ceilings.bandwidths
    assert {point.size_bytes for point in found} <= {size * MIB for size in ON_CPU.sizes_mib}
    assert {point.read_share for point in found} == {0.0, 0.5, 0.667, 1.0}
    assert all(0.1 < point.gb_per_s < 10_000 for point in found)
    assert not any(point.cold for point in found)


def test_a_processor_multiplies_matrices_in_fp32(measured: Measured) -> None:
    rates = {rate.dtype: rate for rate in measured.ceilings.matmuls}
    assert 0.0005 < rates[DType.FP32].tflop_per_s < 100
    assert rates[DType.FP32].size in ON_CPU.single_sides
    assert not any(rate.tf32 for rate in rates.values())


def test_a_processor_computes_exponentials_and_launches_no_kernels(measured: Measured) -> None:
    assert measured.ceilings.exp_per_s is not None
    assert 1e6 < measured.ceilings.exp_per_s < 1e13
    assert measured.ceilings.launch_ns is None


def test_the_precision_of_fp32_matmuls_is_left_as_it_was(measured: Measured) -> None:
    del measured
    assert torch.get_float32_matmul_precision() == "highest"


def test_torchs_threads_are_as_many_as_before() -> None:
    before = torch.get_num_threads()
    with_threads: set[int] = set()
    HostClock().call_ns(lambda: with_threads.add(torch.get_num_threads()), calls=1)
    assert with_threads == {before, 1}
    assert torch.get_num_threads() == before


def test_the_hosts_clock_tells_the_shortest_of_several_samples() -> None:
    naps = iter([0.1] * 3 + [0.02] + [0.1] * 100)
    ns = HostClock().call_ns(lambda: time.sleep(next(naps)), calls=1)
    assert 2e7 <= ns < 1e8


def test_the_hosts_clock_repeats_a_short_call_until_the_clock_can_tell() -> None:
    calls = 0

    def count() -> None:
        nonlocal calls
        calls += 1

    assert HostClock().call_ns(count) < 1e5
    assert calls > 100 * SAMPLES


def test_a_small_size_far_slower_than_a_larger_one_was_disturbed() -> None:
    def point(size: int, rate: float, share: float = 0.5) -> Bandwidth:
        return Bandwidth(size_bytes=size, read_share=share, gb_per_s=rate)

    slow, large, slower_in_memory, other_mix = point(1, 0.1), point(64, 20), point(256, 5), point(1, 0.1, 1.0)
    assert undisturbed((slow, large, slower_in_memory, other_mix)) == (large, slower_in_memory, other_mix)


def _ceilings(heard: Heard) -> list[CeilingsMeasured]:
    return [event for event in heard.events if isinstance(event, CeilingsMeasured)]


def test_a_child_tells_the_ceilings_once_before_any_variant_is_timed(tmp_path: Path) -> None:
    with started(tmp_path, ceilings=True) as child:
        heard = heard_to_the_end(child)
    assert heard.code == 0
    assert len(_ceilings(heard)) == 1
    kinds = [type(event).__name__ for event in heard.events]
    assert kinds.index("CeilingsMeasured") > kinds.index("Started")
    timed = [at for at, event in enumerate(heard.events) if getattr(event, "phase", None) == "timed"]
    assert kinds.index("CeilingsMeasured") < min(timed)


def test_a_child_does_not_measure_what_is_known_of_its_environment(tmp_path: Path) -> None:
    with started(tmp_path) as child:
        environment = next(event.environment for event in child.events if isinstance(event, Started))
    with started(tmp_path, ceilings=True, ceilings_known=("another", environment.digest)) as child:
        heard = heard_to_the_end(child)
    assert _ceilings(heard) == []
    assert heard.runs["naive"].metrics


def test_a_device_whose_ceilings_cannot_be_measured_is_measured_all_the_same(tmp_path: Path) -> None:
    with started(tmp_path, ceilings=True, program="tests.profiles.measure.no_ceilings") as child:
        heard = heard_to_the_end(child)
    assert heard.code == 0
    assert _ceilings(heard) == []
    assert heard.runs["naive"].metrics
    assert "no ceilings today" in heard.stderr
