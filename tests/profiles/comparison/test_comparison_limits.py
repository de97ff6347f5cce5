"""Limits and labels by hand-made figures: a device of round numbers, and sums that can be done in the head."""

from __future__ import annotations

import msgspec
import pytest

from profiles.ceilings import Bandwidth, Ceilings, Costs, MatmulRate
from profiles.comparison.entry import MeasuredEntry
from profiles.comparison.limits import Bound, Standing, standing
from profiles.comparison.rates import amount, bandwidth, per_second
from profiles.environment import Environment
from profiles.plan import CachePolicy, Plan
from profiles.results import Counts, DeepKernel, DeepProfile, Metric, Run, RunStatus
from profiles.workload import DType, Workload

MB = 10**6
# 1 TB/s (2 TB/s where all is in the cache), 100 TFLOP/s in bf16, 1 T exponentials a second, 2 µs a launch.
CEILINGS = Ceilings(
    bandwidths=(
        Bandwidth(size_bytes=MB, read_share=0.5, gb_per_s=2000.0),
        Bandwidth(size_bytes=MB, read_share=0.5, gb_per_s=1000.0, cold=True),
        Bandwidth(size_bytes=1000 * MB, read_share=0.5, gb_per_s=1000.0),
        Bandwidth(size_bytes=1000 * MB, read_share=0.5, gb_per_s=1000.0, cold=True),
    ),
    matmuls=(MatmulRate(dtype=DType.BF16, size=4096, tflop_per_s=100.0),),
    exp_per_s=1e12,
    launch_ns=2000.0,
)
WORKLOAD = Workload(
    operation="attention",
    axes={"batch": 1, "heads": 1, "kv_heads": 1, "seq_q": 8, "seq_kv": 8, "head_dim": 8, "causal": True},
    dtype=DType.BF16,
)
ENVIRONMENT = Environment(device="cuda", device_name="Round", torch="2", python="3", platform="test")


def _run(us: float, costs: Costs | None, *, kernels: int | None = 1, steady_us: float | None = None) -> Run:
    def time(name: str, value: float) -> Metric:
        return Metric(name=name, unit="ns", statistic="median", value=value * 1e3)

    steady = [] if steady_us is None else [time("call_time", steady_us)]
    counts = Counts(kernels=kernels, launches=kernels)
    return Run(
        variant="v",
        status=RunStatus.SUCCEEDED,
        metrics=(time("gpu_time", us), *steady),
        costs=costs,
        counts=counts,
    )


def _standing(run: Run | None, ceilings: Ceilings | None = CEILINGS, cache: CachePolicy = CachePolicy.COLD) -> Standing:
    assert run is not None
    entry = MeasuredEntry(
        key="A",
        variant="v",
        run=run,
        workload=WORKLOAD,
        plan=Plan(cache=cache),
        environment=ENVIRONMENT,
        ceilings=ceilings,
    )
    return standing(entry)


def _costs(mb: float = 1, **others: int) -> Costs:
    size = int(mb * MB)
    return Costs(**{"least_bytes": size, "read_bytes": size // 2, "moved_bytes": size, **others})


def test_100_mb_at_1_tb_s_need_100_us_of_125() -> None:
    found = _standing(_run(125, _costs(100)))
    assert found.label is Bound.MEMORY
    assert found.share == 0.8
    assert found.text == "memory-bound: 100 MB at 1.00 TB/s need 100.0 µs of the measured 125.0 (80 %)"


def test_10_gflop_at_100_tflop_s_need_100_us_of_200() -> None:
    found = _standing(_run(200, _costs(useful_flops=10 * 10**9)))
    assert (found.label, found.share) == (Bound.COMPUTE, 0.5)
    assert found.text == "compute-bound: 10.0 GFLOP at 100 TFLOP/s need 100.0 µs of the measured 200.0 (50 %)"
    assert (found.tflop_per_s, found.intensity, found.exact) == (50.0, 10_000.0, True)


def test_exponentials_alone_can_be_the_limit() -> None:
    found = _standing(_run(100, _costs(exponentials=90 * 10**6)))
    assert (found.label, found.share) == (Bound.COMPUTE, 0.9)
    assert "90.0 M exponentials at 1.00 T/s need 90.0 µs" in found.text


def test_forty_launches_of_2_us_are_80_us_of_100() -> None:
    found = _standing(_run(100, _costs(), kernels=40))
    assert (found.label, found.share) == (Bound.LAUNCH, 0.8)
    assert found.text.startswith("launch-bound: 40 launches of at least 2.00 µs need 80.0 µs")


def test_kernels_of_a_graph_are_not_launched_one_by_one() -> None:
    run = msgspec.structs.replace(_run(100, _costs()), counts=Counts(kernels=40, launches=0, graph_launches=1))
    assert [limit.bound for limit in _standing(run).limits] == [Bound.MEMORY]


def test_far_above_every_limit_is_latency_bound() -> None:
    found = _standing(_run(100, _costs(10)))
    assert found.label is Bound.LATENCY
    assert found.share == pytest.approx(0.1)
    assert "far above every limit" in found.text


def test_intermediates_explain_what_the_least_does_not() -> None:
    found = _standing(_run(100, _costs(10, moved_bytes=60 * MB), kernels=1))
    assert found.label is Bound.MEMORY
    assert found.share == pytest.approx(0.1)  # of what the operation needs, whatever this variant does
    assert "by what it writes and reads in between: 60.0 MB" in found.text


def test_masked_work_explains_what_the_useful_does_not() -> None:
    found = _standing(_run(100, _costs(useful_flops=3 * 10**9, executed_flops=6 * 10**9)))
    assert found.label is Bound.COMPUTE
    assert "by masked work too: 6.00 GFLOP" in found.text


def test_a_compiled_variant_far_above_its_limits_has_no_label() -> None:
    costs = msgspec.structs.replace(_costs(10), moved_bytes=None)
    found = _standing(_run(100, costs))
    assert found.label is None
    assert found.share == pytest.approx(0.1)
    assert "what it moves in between is not known" in found.text


def test_a_deep_profile_tells_what_was_moved() -> None:
    kernels = (DeepKernel(name="k", dram_read_bytes=40e6, dram_written_bytes=20e6),)
    costs = msgspec.structs.replace(_costs(10), moved_bytes=None)
    run = msgspec.structs.replace(_run(100, costs), deep=DeepProfile(tool="ncu", kernels=kernels))
    assert _standing(run).label is Bound.MEMORY
    only_some = msgspec.structs.replace(run, counts=Counts(kernels=2, launches=2))
    assert _standing(only_some).label is None


def test_waiting_for_the_host_is_said_beside_the_devices_own_limit() -> None:
    assert _standing(_run(100, _costs(90), steady_us=200)).text.endswith("it waits for the host: 200.0 µs a call")
    assert "host" not in _standing(_run(100, _costs(90), steady_us=101)).text


def test_a_limit_that_was_beaten_is_said_to_be_none() -> None:
    found = _standing(_run(50, _costs(100)))
    assert found.share == 2.0
    assert "faster than the plain kernel that set this limit" in found.text


@pytest.mark.parametrize(
    ("run", "ceilings", "reason"),
    [
        (_run(1, _costs()), None, "was not measured"),
        (_run(1, None), CEILINGS, "was not recorded"),
        (_run(1, _costs(), kernels=None), Ceilings(), "none of the device's ceilings"),
        (Run(variant="v", status=RunStatus.SUCCEEDED), CEILINGS, "no time was measured"),
    ],
)
def test_what_is_unknown_gives_no_label_but_the_reason(run: Run, ceilings: Ceilings | None, reason: str) -> None:
    found = _standing(run, ceilings)
    assert (found.label, found.share) == (None, None)
    assert reason in found.text


def test_a_warm_run_is_held_against_the_cache() -> None:
    words = {cache: _standing(_run(10, _costs(1)), cache=cache).limits[1].words for cache in CachePolicy}
    assert words[CachePolicy.WARM].startswith("1.00 MB at 2.00 TB/s need 0.5 µs")
    assert words[CachePolicy.COLD].startswith("1.00 MB at 1.00 TB/s need 1.0 µs")
    assert words[CachePolicy.IN_CONTEXT] == words[CachePolicy.WARM]  # what is in the cache there is not known


def test_bandwidth_is_interpolated_by_the_logarithm_of_the_size_and_by_the_mix() -> None:
    points = Ceilings(
        bandwidths=(
            Bandwidth(size_bytes=10, read_share=0.5, gb_per_s=100.0),
            Bandwidth(size_bytes=1000, read_share=0.5, gb_per_s=200.0),
            Bandwidth(size_bytes=10, read_share=1.0, gb_per_s=300.0),
            Bandwidth(size_bytes=1000, read_share=1.0, gb_per_s=400.0),
        )
    )
    assert bandwidth(points, 100, read_share=0.5, cold=False) == pytest.approx(150.0)
    assert bandwidth(points, 100, read_share=0.75, cold=False) == pytest.approx(250.0)
    assert bandwidth(points, 1, read_share=0.0, cold=False) == 100.0
    assert bandwidth(points, 10**9, read_share=1.0, cold=False) == 400.0
    assert bandwidth(points, 1000, read_share=None, cold=True) == 400.0
    assert bandwidth(Ceilings(), 1000, read_share=0.5, cold=False) is None


def test_amounts_have_three_digits_and_a_prefix() -> None:
    assert [amount(value, "B") for value in (0, 999, 1000, 134_217_728, 2.5e12)] == [
        "0 B",
        "999 B",
        "1.00 kB",
        "134 MB",
        "2.50 TB",
    ]
    assert per_second(4.3e12, "B") == "4.30 TB/s"
