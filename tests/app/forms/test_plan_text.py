"""A plan in words, and back."""

from __future__ import annotations

import argparse
import shlex

from hypothesis import given
from hypothesis import strategies as st

from app.commands.plan_options import add_plan_arguments, changed_plan
from app.forms import plan_text
from profiles.plan import CachePolicy, Load, Order, Plan, Walk

WALKS = st.builds(
    Walk, axis=st.sampled_from(["seq_kv", "rows"]), last=st.integers(0, 10**9), step=st.integers(1, 10**6)
)
PLANS = st.builds(
    Plan,
    cache=st.sampled_from(CachePolicy),
    order=st.sampled_from(Order),
    load=st.sampled_from(Load),
    samples=st.integers(20, 10_000),
    builds=st.integers(2, 1000),
    margin=st.decimals("0.0001", "0.1", places=5).map(float),
    budget_s=st.decimals(1, 3600, places=2).map(float),
    walk=st.none() | WALKS,
    energy=st.booleans(),
    deep=st.booleans(),
)


@given(plan=PLANS, usual=PLANS)
def test_the_options_that_are_shown_make_the_plan_of_the_usual_one(plan: Plan, usual: Plan) -> None:
    parser = argparse.ArgumentParser()
    add_plan_arguments(parser)
    words = shlex.split(" ".join(plan_text.options(plan, usual)))
    assert changed_plan(usual, parser.parse_args(words)) == plan


def test_a_margin_is_written_in_percent_without_noise() -> None:
    assert [plan_text.percent(share) for share in (0.005, 0.007, 0.1, 0.00125)] == ["0.5", "0.7", "10", "0.125"]
    assert [plan_text.share(text) for text in ("0.5", " 0.7 % ", "10")] == [0.005, 0.007, 0.1]


def test_a_walk_is_written_as_the_command_line_takes_it() -> None:
    assert plan_text.walk_text(Walk(axis="rows", last=1112, step=8)) == "rows=1112:8"
    assert plan_text.walk_text(Walk(axis="seq_kv", last=575)) == "seq_kv=575"
    assert plan_text.walk_text(None) == "none"
