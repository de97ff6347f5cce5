"""`gpu_time` against the profiler's durations of the same kernel, from 10 µs to 10 ms."""

from __future__ import annotations

import statistics
from typing import Any

import msgspec
import torch
from torch.profiler import ProfilerActivity, profile

from benchmarks.method.pairs import timed, window
from benchmarks.method.works import Work, copying, spin
from profiles.plan import Plan

LENGTHS_US = (10, 20, 50, 100, 300, 1000, 3000, 10_000)
CALLS = 30
BUDGET_S = 1.0


def run(device: torch.device, *, seconds: float, plan: Plan) -> dict[str, Any]:  # noqa: ARG001 - as the others
    """A spinning kernel does not depend on caches; one that moves memory is timed with warm caches by both."""
    if device.type != "cuda":
        return {"rows": [], "reason": "a CPU has no kernel durations"}
    short = msgspec.structs.replace(plan, budget_s=BUDGET_S)
    kinds = [spin(device, us) for us in LENGTHS_US] + [copying(device, us) for us in LENGTHS_US]
    return {"window_ns": window(str(device)), "rows": [_row(work, device, short) for work in kinds]}


def _row(work: Work, device: torch.device, plan: Plan) -> dict[str, Any]:
    ours = timed({work.name: work.function}, work.inputs, device=device, plan=plan, seed=0)[work.name].value
    theirs = _profiled_ns(work, device)
    return {
        "kind": work.name,
        "gpu_time_ns": ours,
        "cupti_ns": theirs,
        "away_ns": ours - theirs,
        "away": ours / theirs - 1,
        "within": abs(ours - theirs) <= max(1000.0, 0.01 * theirs),
    }


def _profiled_ns(work: Work, device: torch.device) -> float:
    x = work.inputs(0)
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        for _ in range(CALLS):
            work.function(x)
            torch.cuda.synchronize(device)
    results: Any = profiler.profiler
    durations = [
        event.duration_ns()
        for event in results.kineto_results.events()
        if event.device_type() == torch.autograd.DeviceType.CUDA and "Sync" not in event.name()
    ]
    return statistics.median(durations)
