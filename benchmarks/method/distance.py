"""`gpu_time` against the driver's durations (CUPTI) of the same kernel, from 10 µs to 10 ms."""

from __future__ import annotations

import statistics
from typing import Any

import msgspec
import torch
from torch.profiler import ProfilerActivity, profile

from benchmarks.method.pairs import timed, window
from benchmarks.method.spinning import kernel_durations
from benchmarks.method.works import Work, copying, gate, spin
from profiles.measure.gpu_time import SHORTEST_GATE_NS
from profiles.plan import CachePolicy, Plan

SPUN_US = (10, 20, 50, 100, 300, 1000, 3000, 10_000)
MOVED_US = (10, 20, 50, 100, 300, 900)  # one kernel indexes no more
CALLS = 60
BUDGET_S = 1.0


def run(device: torch.device, *, seconds: float, plan: Plan) -> dict[str, Any]:  # noqa: ARG001 - as the others
    """With warm caches, which both find alike; both hold the kernel behind a gate."""
    if device.type != "cuda":
        return {"rows": [], "reason": "a CPU has no kernel durations"}
    short = msgspec.structs.replace(plan, budget_s=BUDGET_S, cache=CachePolicy.WARM)
    kinds = [spin(device, us) for us in SPUN_US] + [copying(device, us) for us in MOVED_US]
    return {"window_ns": window(str(device)), "rows": [_row(work, device, short) for work in kinds]}


def _row(work: Work, device: torch.device, plan: Plan) -> dict[str, Any]:
    ours = timed({work.name: work.function}, work.inputs, device=device, plan=plan, seed=0)[work.name].value
    theirs = _recorded_ns(work, device)
    return {
        "kind": work.name,
        "gpu_time_ns": ours,
        "cupti_ns": theirs,
        "away_ns": ours - theirs,
        "away": ours / theirs - 1,
        "within": abs(ours - theirs) <= max(1000.0, 0.01 * theirs),
    }


def _recorded_ns(work: Work, device: torch.device) -> float:
    """The median of the kernels behind the gates: each gate is a kernel too, and comes first."""
    x = work.inputs(0)
    work.function(x)
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        for _ in range(CALLS):
            torch.cuda.synchronize(device)
            gate(str(device)).hold(SHORTEST_GATE_NS)
            work.function(x)
        torch.cuda.synchronize(device)
    durations = kernel_durations(profiler)
    assert len(durations) == 2 * CALLS, "a gate and a kernel each time"
    return statistics.median(durations[1::2])
