"""What speaks against samples: drift, two levels, a clock, throttling, gaps of the host."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from profiles.comparison.stability import device_notes, drift, sample_notes, two_levels
from profiles.results import Block, Metric
from tests.profiles.comparison.builds import quiet, run, sampled

MARGIN = 0.005


def block(at_s: float, clock: int | None = None, *throttle: str) -> Block:
    return Block(build=0, at_s=at_s, sm_clock_mhz=clock, throttle=throttle)


def notes(metric: Metric, *others: Metric) -> tuple[str, ...]:
    return sample_notes(run("naive", metric, *others), metric, drift(metric), margin=MARGIN)


def single(name: str, ns: float) -> Metric:
    return Metric(name=name, unit="ns", statistic="median", value=ns)


def test_a_run_that_slows_down_is_said_to() -> None:
    slower = sampled("gpu_time", quiet(20) + np.linspace(0, 0.08, 20)[:, None])
    assert drift(slower) == pytest.approx(0.04, abs=0.005)
    assert notes(slower)[0].startswith("naive grew slower by 4.")
    assert notes(slower)[0].endswith("from the first half of its samples to the second")


def test_a_step_between_the_halves_is_a_drift() -> None:
    faster = sampled("gpu_time", quiet(12) - 0.03 * (np.arange(12) >= 6)[:, None])
    assert drift(faster) == pytest.approx(-0.03, abs=0.005)
    assert notes(faster)[0].startswith("naive grew faster by 3.")


def test_time_decides_what_the_halves_are_and_not_the_order_of_the_list() -> None:
    slower = sampled("gpu_time", quiet(20) + np.linspace(0, 0.08, 20)[:, None])
    assert slower.samples is not None
    assert slower.builds is not None
    assert slower.at_s is not None
    shuffled = np.random.default_rng(0).permutation(100)
    other = msgspec.structs.replace(
        slower,
        samples=tuple(slower.samples[i] for i in shuffled),
        builds=tuple(slower.builds[i] for i in shuffled),
        at_s=tuple(slower.at_s[i] for i in shuffled),
    )
    assert drift(other) == pytest.approx(drift(slower))


def test_a_drift_within_the_margin_is_not_worth_a_note() -> None:
    slightly = sampled("gpu_time", quiet(20, noise=0.0001) + np.linspace(0, 0.004, 20)[:, None])
    assert drift(slightly) == pytest.approx(0.002, abs=0.0005)
    assert notes(slightly) == ()


def test_steady_runs_are_hardly_ever_said_to_drift_or_to_lie_on_two_levels() -> None:
    generator = np.random.default_rng(4)
    steady = [
        sampled("gpu_time", generator.normal(0, 0.002, (30, 1)) + shape)
        for _ in range(100)
        for shape in (
            generator.normal(0, 0.005, (30, 5)),
            0.005 * generator.standard_t(2, (30, 5)),
            generator.exponential(0.01, (30, 5)),
            generator.uniform(0, 0.02, (30, 5)),
        )
    ]
    assert sum(drift(metric) != 0 for metric in steady) <= 3
    assert sum(two_levels(metric.samples or ()) is not None for metric in steady) <= 2


def test_two_levels_of_samples_are_named() -> None:
    slow = 0.03 * (np.random.default_rng(5).random((12, 5)) < 0.3)
    assert notes(sampled("gpu_time", quiet(12) + slow)) == (
        "the samples of naive lie on two levels, 100.0 µs and 103.0 µs",
    )


def test_the_ticks_of_a_clock_are_no_levels() -> None:
    assert two_levels([3.008, 3.04] * 20) is None


def test_few_samples_and_equal_samples_have_no_levels() -> None:
    assert two_levels([1.0, 2.0] * 9) is None
    assert two_levels([5.0] * 40) is None


def test_a_clock_that_falls_and_throttling_are_told_of_all_blocks_by_time() -> None:
    falling = [block(10 - at, 1900 if at > 5 else 1824, *(["power_cap"] if at < 3 else [])) for at in range(10)]
    assert device_notes(sorted(falling, key=lambda one: -one.at_s)) == (
        "clock fell 4 %",
        "throttled (power cap) in 3 of 10 blocks",
    )


def test_a_steady_or_unknown_clock_needs_no_note() -> None:
    assert device_notes([block(at, 1980 - 15 * (at % 2)) for at in range(12)]) == ()
    assert device_notes([block(at) for at in range(12)]) == ()


def test_gpu_time_far_longer_than_the_graph_holds_gaps_of_the_host() -> None:
    assert notes(single("gpu_time", 60_000.0), single("graph_time", 40_000.0)) == (
        "host gaps inside the window of naive: 60.0 µs of GPU time, 40.0 µs as a graph",
    )
    assert notes(single("gpu_time", 45_000.0), single("graph_time", 40_000.0)) == ()


def test_gpu_time_may_exceed_the_trace_as_cold_caches_do() -> None:
    assert notes(single("gpu_time", 36_000.0), single("traced_device_time", 24_000.0)) == ()
    (note,) = notes(single("gpu_time", 90_000.0), single("traced_device_time", 24_000.0))
    assert note.endswith("90.0 µs of GPU time, 24.0 µs of kernels, copies and fills")


def test_call_time_waits_for_the_host_by_its_nature() -> None:
    assert notes(single("call_time", 90_000.0), single("graph_time", 24_000.0)) == ()
