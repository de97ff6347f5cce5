"""Three sizes × three residual + norm variants, a compiled one included: the whole process, and every verdict."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import torch

from benchmarks.method.measured import Spent, measured
from profiles.comparison.verdicts import Pair, Side, comparisons
from profiles.job import TrialRequest
from profiles.plan import CachePolicy, Plan
from profiles.results import Run
from profiles.workload import DType, Workload

CUDA_SIZES = ((2048, 2048), (4096, 4096), (8192, 8192))
CPU_SIZES = ((256, 512), (512, 512), (1024, 1024))
VARIANTS = ("unfused", "functional", "unfused@compile")
BUDGET_S = 2.0


def run(device: torch.device, *, seconds: float, plan: Plan) -> dict[str, Any]:  # noqa: ARG001 - as the others
    start = time.monotonic()
    rows = [_trial(device, rows, width) for rows, width in (CUDA_SIZES if device.type == "cuda" else CPU_SIZES)]
    return {"seconds": round(time.monotonic() - start, 1), "trials": rows}


def _trial(device: torch.device, rows: int, width: int) -> dict[str, Any]:
    on_gpu = device.type == "cuda"
    workload = Workload(
        operation="residual_rms_norm",
        axes={"rows": rows, "width": width},
        dtype=DType.BF16 if on_gpu else DType.FP32,
    )
    plan = Plan(cache=CachePolicy.COLD if on_gpu else CachePolicy.WARM, budget_s=BUDGET_S)
    request, spent = TrialRequest(workload=workload, variants=VARIANTS), Spent()
    start = time.monotonic()
    runs = measured(request, device=device, plan=plan, on_progress=spent.hear)
    return {
        "rows": rows,
        "width": width,
        "seconds": round(time.monotonic() - start, 1),
        "seconds_by_phase": spent.seconds(),
        "status": {one.variant: str(one.status) for one in runs},
        "verdicts": _verdicts(runs, plan, "gpu_time" if on_gpu else "call_time"),
    }


def _verdicts(runs: tuple[Run, ...], plan: Plan, name: str) -> dict[str, Any]:
    sides = [Side(run=one, metric=metric) for one in runs if (metric := one.metric(name)) is not None]
    pairs = [Pair(before=sides[0], after=after, plan=plan) for after in sides[1:]]
    found = [one for one in comparisons(pairs) if one is not None]
    return {
        "counts": dict(Counter(str(one.verdict) for one in found)),
        "ratios": {one.candidate: [one.low, one.ratio, one.high, one.builds] for one in found},
    }
