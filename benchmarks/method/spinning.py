"""How long a spinning kernel really takes, by the driver's records of many."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import torch
from torch._C._autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

from benchmarks.method.works import cycles_per_us

LENGTHS = 21
REPEATS = 20


def kernel_ratio(device: torch.device, us: float, extra: float) -> float:
    """Of the kernel that spins `us` to the one that spins `extra` (a share) longer: less than one."""
    if device.type != "cuda":
        return 1 / (1 + extra)
    fixed_ns, per_cycle_ns = _line(str(device), us)
    spun_ns = us * cycles_per_us(str(device)) * per_cycle_ns
    return (fixed_ns + spun_ns) / (fixed_ns + spun_ns * (1 + extra))


@cache
def _line(device: str, us: float) -> tuple[float, float]:
    """ns beside the spinning, and ns per cycle: least squares through means, since records are of 32 ns each."""
    cycles = np.linspace(0.8, 1.25, LENGTHS) * us * cycles_per_us(device)
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        for _ in range(REPEATS):
            for one in cycles:
                torch.cuda._sleep(int(one))  # type: ignore[no-untyped-call]
        torch.cuda.synchronize(device)
    durations = np.array(kernel_durations(profiler), dtype=float).reshape(REPEATS, LENGTHS).mean(axis=0)
    slope, fixed = np.polyfit(cycles, durations, 1)
    return float(fixed), float(slope)


def kernel_durations(profiler: profile) -> list[int]:
    """ns, in the order of their starts."""
    results: Any = profiler.profiler
    found = [
        (event.start_ns(), event.duration_ns())
        for event in results.kineto_results.events()
        if event.device_type() == DeviceType.CUDA and "Sync" not in event.name()
    ]
    return [duration for _, duration in sorted(found)]
