"""A walk along the KV length as REFERENCE's figures of an H200 have it: cuDNN plans anew at each length, flash never.

The medians are measured ones, the spread around them is made up.
"""

from __future__ import annotations

import msgspec

from profiles.plan import Plan, Walk
from profiles.results import Results, Run, Trial
from profiles.visits import Visit, Walked
from profiles.workload import Workload
from tests.profiles.comparison.ladder import H200, WORKLOAD, ladder_runs

FIRST, LAST = 512, 575
DECODE = Workload(
    operation="attention",
    dtype=WORKLOAD.dtype,
    axes={**WORKLOAD.axes, "heads": 12, "kv_heads": 12, "seq_q": 1, "seq_kv": FIRST, "head_dim": 128, "causal": False},
)


def visited(run: Run, *, first_ms: float, second_ms: float = 0.04, axis: str = "seq_kv", last: int = LAST) -> Run:
    """The run with a walk whose medians are these."""
    visits = tuple(
        Visit(value=value, first_ns=round(first_ms * 1e6 * wobble), second_ns=round(second_ms * 1e6 * wobble))
        for value in range(FIRST, last + 1)
        for wobble in (1 + 0.06 * ((value * 7) % 9 - 4) / 4,)
    )
    return msgspec.structs.replace(run, visits=Walked(axis=axis, visits=visits))


def churned_runs() -> tuple[Run, ...]:
    """naive, in place, auto, math, flash, efficient, cuDNN."""
    firsts = (0.11, 0.11, 47.8, 0.32, 0.04, 0.05, 47.1)
    seconds = (0.09, 0.09, 0.04, 0.28, 0.038, 0.045, 0.04)
    return tuple(
        visited(run, first_ms=first, second_ms=second)
        for run, first, second in zip(ladder_runs(), firsts, seconds, strict=True)
    )


def churned(*runs: Run) -> Results:
    """`runs`, or all of them, in the results of a job that walked."""
    trial = Trial(workload=DECODE, runs=runs or churned_runs())
    plan = Plan(walk=Walk(axis="seq_kv", last=LAST))
    return Results(preset="shape-churn", plan=plan, environment=H200, trials=(trial,), name="Shape churn")
