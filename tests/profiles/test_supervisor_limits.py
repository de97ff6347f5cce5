"""How long a measuring child may take: what its plan asks for, and an hour."""

from __future__ import annotations

from pathlib import Path

import pytest

from profiles.plan import Plan, Walk
from profiles.results import FailureKind
from profiles.supervisor.limits import Limits, Watch, planned_s
from profiles.workload import DType, Workload

NORM = Workload(operation="residual_rms_norm", dtype=DType.FP32, axes={"rows": 1024, "width": 1024})


def test_slow_variants_may_overrun_the_budget_for_their_fewest_samples() -> None:
    assert planned_s(Plan(budget_s=30.0), NORM, variants=4) == planned_s(Plan(budget_s=30.0), NORM, variants=1) == 120.0


@pytest.mark.parametrize(
    ("plan", "least_s"),
    [
        (Plan(budget_s=1.0, walk=Walk(axis="rows", last=1279)), 256 * 4 * 10.0),
        (Plan(budget_s=1.0, energy=True), 4 * 8.0),
        (Plan(budget_s=1.0, deep=True), 4 * 300.0),
    ],
    ids=["a visit that compiles", "a loop and an idle device", "replays of each kernel"],
)
def test_what_each_variant_is_asked_for_on_top_has_its_time(plan: Plan, least_s: float) -> None:
    assert planned_s(plan, NORM, variants=4) - planned_s(Plan(budget_s=1.0), NORM, variants=4) > least_s


def test_a_child_over_its_time_is_told_how_long_it_had(tmp_path: Path) -> None:
    watch = Watch(Limits(time_s=60.0), 120.0, group=0, directory=tmp_path)
    assert watch.excess(0) is None
    watch.started -= 181.0
    failure = watch.excess(0)
    assert failure is not None
    assert (failure.kind, failure.message) == (FailureKind.TIMEOUT, "ran longer than its limit of 180 s")
