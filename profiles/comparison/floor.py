"""The physical floor: no GPU moves data or multiplies faster than its data sheet says, whatever a clock shows."""

from __future__ import annotations

import msgspec

from profiles.ceilings import Costs
from profiles.comparison.figures import prose_time, ratio
from profiles.comparison.rates import amount
from profiles.datasheet import Datasheet, datasheet
from profiles.environment import Environment
from profiles.results import Failure, FailureKind, Run, RunStatus
from profiles.workload import Workload

CLOCK_MARGIN = 1.1
"""A GPU may boost beyond the clock of its data sheet (H100: 1,980 against 1,830 MHz); its memory does not."""


def checked(run: Run, workload: Workload, environment: Environment | None) -> Run:
    """The run as it is, or failed where its GPU time is below the floor: what took less did not do all the work."""
    time = run.metric("gpu_time")
    sheet = None if environment is None else datasheet(environment.device_name)
    if run.status is not RunStatus.SUCCEEDED or time is None or sheet is None or run.costs is None:
        return run
    ns, words = _floor(run.costs, workload, sheet)
    if time.value >= ns:
        return run
    message = (
        f"the GPU time, {prose_time(time.value)}, is below the floor of {prose_time(ns)} that {words}: it beats the"
        f" hardware {ratio(ns / max(time.value, 1.0))}, so that something was not computed or not waited for"
    )
    failure = Failure(kind=FailureKind.INTERNAL, message=message)
    return msgspec.structs.replace(run, status=RunStatus.FAILED, failure=failure)


def _floor(costs: Costs, workload: Workload, sheet: Datasheet) -> tuple[float, str]:
    """ns, and why. Bytes that fit in the L2 cache cost nothing: they may be there already, and need not be written
    back."""
    beyond = max(0, costs.least_bytes - sheet.l2_bytes)
    rate = sheet.tflop_per_s[workload.dtype]
    memory = beyond / sheet.gb_per_s
    matmul = (costs.useful_flops or 0) / (rate * CLOCK_MARGIN) / 1e3
    if matmul > memory:
        return matmul, f"{amount(costs.useful_flops or 0, 'FLOP')} need on {sheet.name} at {rate:,.0f} TFLOP/s"
    size = amount(sheet.gb_per_s * 1e9, "B")
    return memory, f"{amount(beyond, 'B')} beyond the cache need on {sheet.name} at {size}/s"
