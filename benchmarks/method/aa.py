"""False verdicts: functions against themselves, each in buffers of its own, as candidates of one baseline."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import torch

from benchmarks.method.pairs import compared, principal_alone, timed
from benchmarks.method.works import Work, elementwise
from profiles.plan import Plan

CANDIDATES = 7
WANTED = 913


def run(device: torch.device, *, seconds: float, plan: Plan) -> dict[str, Any]:
    """Rounds over all works until the time is spent or 913 comparisons are made."""
    works, start, round_number = elementwise(device), time.monotonic(), 0
    verdicts: dict[str, Counter[str]] = {work.name: Counter() for work in works}
    widths: dict[str, list[float]] = {work.name: [] for work in works}
    while _made(verdicts) < WANTED and time.monotonic() - start < seconds:
        for work in works:
            with principal_alone(warm=round_number > 0):
                found = _round(work, device, plan, seed=round_number)
            for verdict, width in found:
                verdicts[work.name][verdict] += 1
                widths[work.name].append(width)
        round_number += 1
    false = sum(count[name] for count in verdicts.values() for name in ("faster", "slower"))
    return {
        "comparisons": _made(verdicts),
        "false_verdicts": false,
        "verdicts": {name: dict(count) for name, count in verdicts.items()},
        "median_half_width": {name: sorted(found)[len(found) // 2] for name, found in widths.items() if found},
        "seconds": round(time.monotonic() - start, 1),
    }


def _round(work: Work, device: torch.device, plan: Plan, *, seed: int) -> list[tuple[str, float]]:
    functions = {f"copy {number}": work.function for number in range(1 + CANDIDATES)}
    baseline, *candidates = timed(functions, work.inputs, device=device, plan=plan, seed=seed).values()
    found = [compared(baseline, candidate, plan) for candidate in candidates]
    return [(str(one.verdict), (one.high - one.low) / 2) for one in found if one.low and one.high]


def _made(verdicts: dict[str, Counter[str]]) -> int:
    return sum(sum(count.values()) for count in verdicts.values())
