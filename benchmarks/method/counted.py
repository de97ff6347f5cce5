"""`gpu_time` against Nsight Compute's durations (`--clock-control none`) of variants that are one kernel."""

from __future__ import annotations

from typing import Any

import torch

from benchmarks.method.measured import measured
from profiles.job import TrialRequest
from profiles.plan import CachePolicy, Plan
from profiles.results import Run
from profiles.workload import AxisValue, DType, Workload

AXES: dict[str, dict[str, AxisValue]] = {
    "attention": {
        "batch": 8, "heads": 16, "kv_heads": 16, "seq_q": 2048, "seq_kv": 2048, "head_dim": 64, "causal": True,
    },
    "residual_rms_norm": {"rows": 32_768, "width": 2048},
}  # fmt: skip
VARIANTS = {"attention": ("sdpa_flash", "sdpa_efficient"), "residual_rms_norm": ("unfused@compile",)}
BUDGET_S = 4.0
SHORTEST_NS = 100_000
ALLOWED = 0.03


def run(device: torch.device, *, seconds: float, plan: Plan) -> dict[str, Any]:  # noqa: ARG001 - as the others
    if device.type != "cuda":
        return {"rows": [], "reason": "a CPU has no kernels"}
    return {"rows": [_row(one) for operation in AXES for one in _runs(device, operation)]}


def _runs(device: torch.device, operation: str) -> tuple[Run, ...]:
    workload = Workload(operation=operation, axes=AXES[operation], dtype=DType.BF16)
    request = TrialRequest(workload=workload, variants=VARIANTS[operation])
    return measured(request, device=device, plan=Plan(cache=CachePolicy.COLD, budget_s=BUDGET_S, deep=True))


def _row(one: Run) -> dict[str, Any]:
    metric, deep = one.metric("gpu_time"), one.deep
    if metric is None or deep is None or deep.failure is not None:
        return {"variant": one.variant, "status": str(one.status), "failure": deep and deep.failure}
    ours, theirs = metric.value, float(sum(kernel.duration_ns or 0 for kernel in deep.kernels))
    return {
        "variant": one.variant,
        "tool": deep.tool,
        "kernels": [[kernel.name[:60], kernel.duration_ns] for kernel in deep.kernels],
        "gpu_time_ns": ours,
        "ncu_ns": theirs,
        "away": ours / theirs - 1 if theirs else None,
        "within": bool(theirs) and (theirs < SHORTEST_NS or abs(ours / theirs - 1) <= ALLOWED),
    }
