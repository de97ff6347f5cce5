"""Digests of what records say: unmoved by new fields, moved by everything that is said."""

import msgspec
import pytest
from hypothesis import given

from profiles.identity import digest
from profiles.plan import CachePolicy, Plan
from profiles.results import Metric, Run, RunStatus
from tests.db.strategies import RUNS


class Before(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    limits: tuple[float, ...] = ()


class After(msgspec.Struct, frozen=True, kw_only=True):
    """As `Before` was, and then some."""

    name: str
    limits: tuple[float, ...] = ()
    margin: float = 0.005
    notes: dict[str, str] = {}
    within: Before | None = None


def test_a_new_field_at_its_default_changes_no_digest() -> None:
    assert digest(After(name="x", limits=(1.5,))) == digest(Before(name="x", limits=(1.5,)))
    assert digest((After(name="x"),)) == digest((Before(name="x"),))


@pytest.mark.parametrize(
    "other",
    [
        After(name="y"),
        After(name="x", limits=(0.0,)),
        After(name="x", margin=0.01),
        After(name="x", notes={"a": ""}),
        After(name="x", within=Before(name="x")),
    ],
)
def test_whatever_is_said_changes_the_digest(other: After) -> None:
    assert digest(other) != digest(After(name="x"))


def test_the_order_of_axes_says_nothing() -> None:
    assert digest({"rows": 8, "width": 4}) == digest({"width": 4, "rows": 8})
    assert digest((8, 4)) != digest((4, 8))


def test_digests_of_plans_and_runs_stay_as_they_are() -> None:
    """Of what stands in databases: a change here would make every run another one."""
    run = Run(
        variant="naive",
        status=RunStatus.SUCCEEDED,
        metrics=(Metric(name="call_time", unit="ns", statistic="median", value=1.5, samples=(1.25, 1.5)),),
    )
    assert digest(Plan(cache=CachePolicy.WARM, budget_s=15.0), run) == (
        "d37816fa6dc96db51a6e4f32f3b2ac93e533e124c21e1cfe80f6adb7389c1723"
    )


@given(run=RUNS)
def test_what_json_brings_back_has_the_same_digest(run: Run) -> None:
    assert digest(msgspec.json.decode(msgspec.json.encode(run), type=Run)) == digest(run)
