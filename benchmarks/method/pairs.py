"""From functions that are timed together to verdicts: by the method's own timing and its own comparing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from profiles.comparison.verdicts import Pair, Side, comparisons
from profiles.measure.timing import time_functions
from profiles.plan import Plan
from profiles.results import Metric, Run, RunStatus
from profiles.verdict import VariantComparison

Function = Callable[[Any], Any]


def principal(device: torch.device) -> str:
    return "gpu_time" if device.type == "cuda" else "call_time"


def timed(
    functions: Mapping[str, Function], make_inputs: Callable[[int], Any], *, device: torch.device, plan: Plan, seed: int
) -> dict[str, Metric]:
    """Each function's principal time."""
    found = time_functions(functions, make_inputs, device=device, plan=plan, seed=seed)
    name = principal(device)
    return {key: next(metric for metric in metrics if metric.name == name) for key, metrics in found.items()}


def compared(before: Metric, after: Metric, plan: Plan) -> VariantComparison:
    """A family of one."""
    sides = [Side(run=_run(name, metric), metric=metric) for name, metric in (("before", before), ("after", after))]
    (found,) = comparisons([Pair(before=sides[0], after=sides[1], plan=plan)])
    assert found is not None, "what was timed here has builds"
    return found


def _run(name: str, metric: Metric) -> Run:
    return Run(variant=name, status=RunStatus.SUCCEEDED, metrics=(metric,))
