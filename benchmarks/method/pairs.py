"""From functions that are timed together to verdicts: by the method's own timing and its own comparing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch

from profiles.comparison.verdicts import Pair, Side, comparisons
from profiles.measure import call_time, timing
from profiles.measure.candidate import Candidate
from profiles.measure.timing import time_functions
from profiles.plan import Plan
from profiles.results import Metric, Run, RunStatus
from profiles.verdict import VariantComparison

Function = Callable[[Any], Any]

STILL_WARM_S = 0.05


def principal(device: torch.device) -> str:
    return "gpu_time" if device.type == "cuda" else "call_time"


@cache
def window(device: str) -> float:
    """ns; in a process of its own, as every trial measures it."""
    if device == "cpu":
        return 0.0
    command = [sys.executable, "-m", "profiles.measure.window", device]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def timed(
    functions: Mapping[str, Function], make_inputs: Callable[[int], Any], *, device: torch.device, plan: Plan, seed: int
) -> dict[str, Metric]:
    """Each function's principal time."""
    window_ns = window(str(device))
    found = time_functions(functions, make_inputs, device=device, plan=plan, seed=seed, window_ns=window_ns)
    name = principal(device)
    return {key: next(metric for metric in metrics if metric.name == name) for key, metrics in found.items()}


@contextmanager
def principal_alone(*, warm: bool) -> Iterator[None]:
    """Within: no graphs are captured, since verdicts are by the principal time; functions that are `warm` from a moment
    ago are called for 50 ms before they are timed again, not for 300."""
    usual, timing._capturable = timing._capturable, _none
    warm_up_s, call_time.WARM_UP_S = call_time.WARM_UP_S, STILL_WARM_S if warm else call_time.WARM_UP_S
    try:
        yield
    finally:
        timing._capturable, call_time.WARM_UP_S = usual, warm_up_s


def _none(candidates: Sequence[Candidate]) -> list[Candidate]:  # noqa: ARG001 - in another's place
    return []


def compared(before: Metric, after: Metric, plan: Plan) -> VariantComparison:
    """A family of one."""
    sides = [Side(run=_run(name, metric), metric=metric) for name, metric in (("before", before), ("after", after))]
    (found,) = comparisons([Pair(before=sides[0], after=sides[1], plan=plan)])
    assert found is not None, "what was timed here has builds"
    return found


def _run(name: str, metric: Metric) -> Run:
    return Run(variant=name, status=RunStatus.SUCCEEDED, metrics=(metric,))
