"""Injected work: a kernel that spins, against one that spins 1, 2 or 5 % longer."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch

from benchmarks.method.pairs import compared, principal_alone, timed
from benchmarks.method.spinning import kernel_ratio
from benchmarks.method.works import CPU_US, CUDA_US, spin
from profiles.plan import Plan
from profiles.verdict import VariantComparison

EXTRAS = (0.01, 0.02, 0.05)


def run(device: torch.device, *, seconds: float, plan: Plan) -> dict[str, Any]:
    """Rounds over all lengths until the time is spent. The truth is what the longer kernel takes by the line through
    kernel durations over spun cycles (a kernel takes a little beside its spinning); on a CPU the ratio of elements."""
    lengths = CUDA_US if device.type == "cuda" else CPU_US
    made: dict[tuple[float, float], list[VariantComparison]] = {(us, extra): [] for us in lengths for extra in EXTRAS}
    start, number = time.monotonic(), 0
    works = {us: [spin(device, us, extra=extra) for extra in (0.0, *EXTRAS)] for us in lengths}
    truth = {(us, extra): kernel_ratio(device, us, extra) for us, extra in made}
    while time.monotonic() - start < seconds:
        for us in lengths:
            functions = {work.name: work.function for work in works[us]}
            with principal_alone(warm=number > 0):
                metrics = list(timed(functions, works[us][0].inputs, device=device, plan=plan, seed=number).values())
            for extra, metric in zip(EXTRAS, metrics[1:], strict=True):
                made[us, extra].append(compared(metrics[0], metric, plan))
        number += 1
    return {
        "rows": [_row(us, extra, found, truth[us, extra]) for (us, extra), found in made.items() if found],
        "seconds": round(time.monotonic() - start, 1),
    }


def _row(us: float, extra: float, found: list[VariantComparison], truth: float) -> dict[str, Any]:
    ratios = np.array([one.ratio for one in found])
    covered = [one.low is not None and one.high is not None and one.low <= truth <= one.high for one in found]
    return {
        "us": us,
        "extra": extra,
        "comparisons": len(found),
        "truth": truth,
        "bias": float(np.median(ratios) / truth - 1),
        "covered": sum(covered),
        "found": sum(one.verdict == "slower" for one in found),
        "wrong": sum(one.verdict == "faster" for one in found),
        "undecided": sum(one.verdict == "undecided" for one in found),
    }
