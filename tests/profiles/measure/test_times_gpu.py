"""On a GPU: every time of a run, against each other and against the driver's records."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import rms_norm

from profiles.measure.builds import Builds, needed_by_calls
from profiles.measure.cache_policy import CacheState
from profiles.measure.cupti_time import busy_times
from profiles.measure.gate import Gate
from profiles.measure.graph_time import CaptureError, Replay, side_stream
from profiles.measure.memory import call_memory
from profiles.measure.nvml import gpu_state
from profiles.measure.timing import time_functions
from profiles.plan import CachePolicy, Plan
from profiles.results import Metric
from tests.profiles.measure.given_subjects import subject_of

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"),
]

DEVICE = torch.device("cuda:0")
WARM = Plan(samples=20, builds=4, budget_s=3.0, cache=CachePolicy.WARM)
COLD = Plan(samples=20, builds=4, budget_s=3.0, cache=CachePolicy.COLD)
IN_CONTEXT = Plan(samples=20, builds=4, budget_s=3.0, cache=CachePolicy.IN_CONTEXT)


@dataclass(frozen=True)
class Norm:
    x: Tensor
    weight: nn.Parameter


def norm_inputs(rows: int, seed: int) -> Norm:
    generator = torch.Generator(DEVICE).manual_seed(seed)
    x = torch.randn(rows, 1024, generator=generator, device=DEVICE, dtype=torch.bfloat16)
    return Norm(x, nn.Parameter(torch.ones(1024, device=DEVICE, dtype=torch.bfloat16), requires_grad=False))


def norm(n: Norm) -> Tensor:
    return rms_norm(n.x, (1024,), n.weight, 1e-6)


@cache
def window_ns() -> float:
    """From a process of its own, as a trial does it."""
    command = [sys.executable, "-m", "profiles.measure.window", "cuda:0"]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def timed(
    functions: Mapping[str, Callable[[Any], Any]], make: Callable[[int], Any], plan: Plan
) -> dict[str, dict[str, Metric]]:
    torch.cuda.set_device(DEVICE)
    found = time_functions(functions, make, device=DEVICE, plan=plan, window_ns=window_ns())
    return {name: {metric.name: metric for metric in metrics} for name, metrics in found.items()}


def ones(elements: int, seed: int) -> Tensor:
    return torch.ones(elements, device=DEVICE) + seed


@pytest.mark.parametrize("elements", [5 << 20, 55 << 20, 550 << 20])  # some 10 µs, 100 µs and 1 ms on an H200
def test_gpu_time_is_what_the_driver_records_of_the_kernel(elements: int) -> None:
    found = timed({"adds": lambda x: x + 1}, partial(ones, elements), WARM)["adds"]["gpu_time"]
    x = ones(elements, 0)
    recorded = statistics.median(busy_times(lambda: x + 1, lambda: None, calls=30, device=DEVICE, gate=Gate()))
    assert (found.method, found.doubt) == ("gated events", None)
    assert found.value == pytest.approx(recorded, abs=1000.0, rel=0.01), f"gated {found.value}, recorded {recorded}"


def test_a_window_of_events_holds_microseconds_beside_its_kernel() -> None:
    assert 500 < window_ns() < 6000


def test_all_times_of_a_small_call_are_there_with_their_builds() -> None:
    found = timed({"norm": norm}, partial(norm_inputs, 512), COLD)["norm"]
    for name in ("gpu_time", "call_time", "sync_time", "host_time", "graph_time"):
        metric = found[name]
        assert metric.doubt is None, f"{name}: {metric.doubt}"
        assert metric.samples is not None
        assert metric.builds is not None
        assert len(metric.samples) == len(metric.builds) >= 20
        assert set(metric.builds) >= set(range(COLD.builds))
    assert found["sync_time"].value > found["gpu_time"].value
    assert found["graph_pool_memory"].value > 0


def test_a_small_call_takes_the_host_about_as_long_as_one_among_many_and_a_lone_one_little_more() -> None:
    """Not what it takes after a rest or a wait, with cold caches: that is several times as much."""
    found = timed({"norm": norm}, partial(norm_inputs, 512), COLD)["norm"]
    assert found["host_time"].value < 1.3 * found["call_time"].value
    assert found["sync_time"].value < found["gpu_time"].value + 5 * found["call_time"].value


def test_a_call_of_hundreds_of_launches_has_a_host_time_though_five_do_not_fit_into_the_queue() -> None:
    def hundreds(x: Tensor) -> Tensor:
        for _ in range(300):
            x = x + 1
        return x

    found = timed({"hundreds": hundreds}, partial(ones, 1024), WARM)["hundreds"]
    assert found["gpu_time"].method == "gated events"
    assert found["host_time"].doubt is None
    assert 300 * 500 < found["host_time"].value < 2 * found["call_time"].value


def test_a_call_that_the_device_is_busy_with_costs_the_host_less() -> None:
    found = timed({"adds": lambda x: x + 1}, partial(ones, 550 << 20), WARM)["adds"]
    assert found["host_time"].value < found["call_time"].value / 2
    assert found["graph_time"].value == pytest.approx(found["gpu_time"].value, rel=0.05)


def test_a_replayed_graph_spares_many_small_calls_the_host() -> None:
    def many(x: Tensor) -> Tensor:
        for _ in range(50):
            x = x + 1
        return x

    found = timed({"many": many}, partial(ones, 1024), WARM)["many"]
    assert found["graph_time"].value < found["call_time"].value
    assert found["graph_time"].value < 1.5 * found["gpu_time"].value


def test_cold_caches_make_a_small_norm_slower_by_every_time() -> None:
    rows = 8192  # 16 MiB: fits into the cache whole
    warm, cold = (timed({"norm": norm}, partial(norm_inputs, rows), plan)["norm"] for plan in (WARM, COLD))
    assert cold["gpu_time"].value > 1.1 * warm["gpu_time"].value
    assert cold["graph_time"].value > 1.1 * warm["graph_time"].value


@dataclass(frozen=True)
class Read:
    x: Tensor
    weight: nn.Parameter


def read_inputs(seed: int) -> Read:
    values = torch.ones(4 << 20, device=DEVICE) + seed  # 16 MiB
    return Read(values, nn.Parameter(values.clone(), requires_grad=False))


def test_in_context_activations_are_in_the_cache_and_weights_are_not() -> None:
    functions = {"activation": lambda r: r.x.sum(), "weight": lambda r: r.weight.sum()}
    found = timed(functions, read_inputs, IN_CONTEXT)
    assert found["weight"]["gpu_time"].value > 1.1 * found["activation"]["gpu_time"].value


def test_a_call_of_thousands_of_launches_is_taken_from_the_drivers_records_without_a_doubt() -> None:
    def thousands(x: Tensor) -> Tensor:
        for _ in range(2000):
            x = x + 1
        return x

    found = timed({"thousands": thousands}, partial(ones, 1024), WARM)["thousands"]
    gpu_time = found["gpu_time"]
    assert (gpu_time.method, gpu_time.doubt) == ("CUPTI busy time", None)
    assert 2000 * 500 < gpu_time.value < found["call_time"].value
    assert found["host_time"].doubt is not None


def test_a_call_that_cannot_be_captured_has_no_graph_time_and_harms_nobody() -> None:
    functions = {"asks": lambda x: x * float(x.sum().item()), "adds": lambda x: x + 1, "doubles": lambda x: x * 2}
    found = timed(functions, partial(ones, 1024), WARM)
    assert "graph_time" not in found["asks"]
    assert "graph_time" in found["adds"]
    assert "graph_time" in found["doubles"]
    torch.cuda.empty_cache()
    torch.randn(3, device=DEVICE)
    assert torch.ones(3, device=DEVICE).sum().item() == 3
    assert torch.cuda.current_stream(DEVICE) == torch.cuda.default_stream(DEVICE)


def test_a_failed_capture_says_what_it_was_and_the_next_one_works() -> None:
    x = torch.ones(1024, device=DEVICE)
    with pytest.raises(CaptureError, match=r"captur|CUDA"):
        Replay([subject_of(lambda x: x * float(x.sum().item()), x)], DEVICE, side_stream(DEVICE))
    assert torch.randn(3, device=DEVICE).isfinite().all()
    replay = Replay([subject_of(lambda x: x + 1, x)] * 3, DEVICE, side_stream(DEVICE))
    replay()
    torch.cuda.synchronize(DEVICE)
    assert replay.calls == 3
    assert replay.pool_bytes > 0


def test_memory_is_told_apart() -> None:
    x = torch.ones(16 << 20, device=DEVICE)  # 64 MiB: too large to share a segment of the allocator
    found = call_memory(subject_of(lambda x: (x + 1) * 2, x), DEVICE)
    assert found.peak == 128 << 20
    assert found.workspace == 64 << 20
    assert found.reserved is not None
    assert found.reserved >= found.peak


def test_only_what_calls_have_needed_since_is_kept_free_of_buffers() -> None:
    """Not what was held before timing: references in float64, and poison in all that the allocator holds free."""
    large = torch.ones(1 << 28, device=DEVICE)  # 1 GiB
    del large
    x = torch.ones(1 << 20, device=DEVICE)
    Builds(DEVICE, CacheState(DEVICE, CachePolicy.WARM), x)
    output = x + 1
    del output
    assert needed_by_calls(DEVICE) == 4 << 20


def test_energy_is_measured_where_the_plan_asks_for_it() -> None:
    plan = Plan(samples=20, builds=2, budget_s=1.0, cache=CachePolicy.WARM, energy=True)
    found = timed({"adds": lambda x: x + 1}, partial(ones, 55 << 20), plan)["adds"]
    gross, net = found["energy_gross"], found["energy_net"]
    assert gross.unit == "J"
    assert gross.method is not None
    assert gross.method.startswith("NVML")
    assert 0 < net.value < gross.value < 1.0  # 100 µs at less than 1 kW are below 0.1 J


def test_the_devices_state_is_found() -> None:
    state = gpu_state(DEVICE)
    assert state.sm_clock_mhz is not None
    assert state.memory_clock_mhz is not None
    assert state.temperature_c is not None
    assert state.power_w is not None
    assert 10 < state.power_w < 2000
