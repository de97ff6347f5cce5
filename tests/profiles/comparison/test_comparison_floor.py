"""No time is believed that beats the hardware."""

from __future__ import annotations

from pathlib import Path

import pytest

from profiles.ceilings import Costs
from profiles.comparison.floor import checked
from profiles.datasheet import datasheet
from profiles.environment import Environment
from profiles.job import TrialRequest
from profiles.plan import Plan
from profiles.results import FailureKind, Metric, Run, RunStatus
from profiles.supervisor import measure_trial
from profiles.workload import DType, Workload

WORKLOAD = Workload(
    operation="attention",
    axes={"batch": 1, "heads": 1, "kv_heads": 1, "seq_q": 8, "seq_kv": 8, "head_dim": 8, "causal": True},
    dtype=DType.BF16,
)
L2 = 60 << 20  # 62,914,560 bytes: what an H200 reports


def _on(device_name: str) -> Environment:
    return Environment(device="cuda", device_name=device_name, torch="2", python="3", platform="test")


def _run(us: float, costs: Costs | None) -> Run:
    time = Metric(name="gpu_time", unit="ns", statistic="median", value=us * 1e3)
    return Run(variant="v", status=RunStatus.SUCCEEDED, metrics=(time,), costs=costs)


def _passes(us: float, costs: Costs | None, device_name: str = "NVIDIA H200") -> bool:
    return checked(_run(us, costs), WORKLOAD, _on(device_name)).status is RunStatus.SUCCEEDED


def test_480_mb_beyond_the_cache_need_100_us_on_an_h200() -> None:
    costs = Costs(least_bytes=480 * 10**6 + L2)
    assert _passes(100.1, costs)
    assert not _passes(99.9, costs)


def test_what_fits_in_the_cache_costs_nothing() -> None:
    assert _passes(0.001, Costs(least_bytes=L2))


def test_a_petaflop_needs_a_millisecond_at_a_tenth_above_the_data_sheets_clock() -> None:
    costs = Costs(least_bytes=1, useful_flops=int(989.5e12 * 1.1 * 1e-3))
    assert _passes(1000.1, costs)
    assert not _passes(999.9, costs)


def test_the_message_says_by_how_much_the_hardware_was_beaten() -> None:
    run = checked(_run(10, Costs(least_bytes=480 * 10**6 + L2)), WORKLOAD, _on("NVIDIA H200"))
    assert run.failure is not None
    assert run.failure.kind is FailureKind.INTERNAL
    assert "10.0 µs, is below the floor of 100.0 µs" in run.failure.message
    assert "480 MB beyond the cache need on H200 at 4.80 TB/s" in run.failure.message
    assert "beats the hardware 10.0×" in run.failure.message
    assert run.metric("gpu_time") is not None


def test_an_unknown_device_and_unknown_costs_are_not_checked() -> None:
    costs = Costs(least_bytes=10**12)
    assert _passes(1, costs, "Some GPU of 2031")
    assert _passes(1, None)
    assert checked(_run(1, costs), WORKLOAD, None).status is RunStatus.SUCCEEDED


@pytest.mark.parametrize(
    ("name", "sheet"),
    [
        ("NVIDIA H200", "H200"),
        ("NVIDIA H100 80GB HBM3", "H100 SXM"),
        ("NVIDIA H100 PCIe", "H100 PCIe"),
        ("NVIDIA H100 NVL", "H100 NVL"),
        ("NVIDIA A100-SXM4-80GB", "A100 80 GB"),
        ("NVIDIA A100-PCIE-40GB", "A100 40 GB"),
        ("NVIDIA A100 80GB PCIe", "A100 80 GB"),
        ("NVIDIA L40S", "L40S"),
        ("NVIDIA L4", "L4"),
        ("NVIDIA A10", "A10"),
        ("NVIDIA B200", "B200"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", None),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", None),
        ("NVIDIA GH200 480GB", None),
        ("NVIDIA A10G", None),
        ("AMD Instinct MI300X", None),
    ],
)
def test_devices_are_known_by_their_drivers_name(name: str, sheet: str | None) -> None:
    found = datasheet(name)
    assert (found.name if found else None) == sheet


def test_a_trial_fails_what_is_impossible_and_keeps_the_rest(tmp_path: Path) -> None:
    outcome = measure_trial(
        TrialRequest(workload=WORKLOAD, variants=("naive", "sdpa_math")),
        plan=Plan(),
        device="cuda:0",
        directory=tmp_path,
        on_progress=lambda _: None,
        on_environment=lambda _: None,
        on_run=lambda _: None,
        cancelled=lambda: False,
        program=("module", "tests.profiles.impossible"),
    )
    naive, math = outcome.runs
    assert (naive.status, math.status) == (RunStatus.FAILED, RunStatus.SUCCEEDED)
    assert naive.failure is not None
    assert "beats the hardware" in naive.failure.message
