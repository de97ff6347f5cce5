"""The one caveat: the worst that applies, or none."""

from __future__ import annotations

import msgspec
import pytest

from profiles.comparison.caveat import caveat
from profiles.comparison.entry import MeasuredEntry, entries_of
from profiles.comparison.parts import plain
from profiles.plan import CachePolicy, Plan
from profiles.results import Correctness, Metric, Receipt, Run, RunStatus
from tests.profiles.comparison.ladder import H200, ladder, ladder_runs, one, results, spread
from tests.profiles.comparison.other import norm_runs


def _told(entries: tuple[MeasuredEntry, ...]) -> str:
    found = caveat(entries)
    assert found is not None
    return f"{found.label}: {plain(found.parts)}"


def _with(run: Run, *metrics: Metric) -> Run:
    names = {metric.name for metric in metrics}
    return msgspec.structs.replace(run, metrics=(*(m for m in run.metrics if m.name not in names), *metrics))


def test_sound_ladder_has_none() -> None:
    assert caveat(ladder()) is None


def test_winner_that_loses_back_to_back_is_told() -> None:
    assert _told(entries_of(results(*norm_runs()))) == (
        "Before you choose it: Called back to back, functional is faster: 58.0 µs against unfused@compile’s 88.0. "
        "The host, not the GPU, sets the pace there."
    )


def test_fallback_is_told() -> None:
    receipt = Receipt(asked="auto", ran="math", fell_back=True)
    fell = msgspec.structs.replace(ladder_runs()[2], receipt=receipt)
    assert _told(entries_of(results(ladder_runs()[0], fell))).startswith(
        "Fell back: sdpa_auto was asked for auto and ran math."
    )


def test_a_skipped_graph_and_a_compiler_that_gave_up_are_told_alike() -> None:
    graphs = Receipt(mechanism="cuda_graph", asked="graph replay", ran="single launches", fell_back=True)
    sound = Receipt(mechanism="compile", asked="inductor", ran="inductor")
    run = msgspec.structs.replace(ladder_runs()[2], dispatch=(sound, graphs))
    assert _told(entries_of(results(ladder_runs()[0], run))) == (
        "Fell back: sdpa_auto was asked for graph replay and ran single launches. The receipts below say why."
    )


def test_incorrect_variant_is_told_before_anything_else() -> None:
    nan = Correctness(relative_l2=None, max_abs=None, nonfinite=12, tolerance=1e-2, passed=False)
    wrong = msgspec.structs.replace(ladder_runs()[2], status=RunStatus.INCORRECT, correctness=nan)
    assert _told(entries_of(results(*ladder_runs()[:2], wrong))) == (
        "Incorrect: sdpa_auto is incorrect: 12 values of its output are NaN or infinite. It has no speed-up."
    )


@pytest.mark.parametrize("why", ["NaN in 12 of 8,192 rows", "1 of 8,192 rows is wrong: it is off by 1.4, 0.03 passes"])
def test_incorrect_variant_is_told_with_what_the_check_said(why: str) -> None:
    found = Correctness(relative_l2=2e-3, max_abs=1.0, nonfinite=0, tolerance=1e-2, passed=False, reason=why)
    wrong = msgspec.structs.replace(ladder_runs()[2], status=RunStatus.INCORRECT, correctness=found)
    assert _told(entries_of(results(*ladder_runs()[:2], wrong))) == (
        f"Incorrect: sdpa_auto is incorrect: {why}. It has no speed-up."
    )


def test_doubt_about_the_winner_s_time_is_told() -> None:
    shaky = ladder_runs()[2].metric("gpu_time")
    assert shaky is not None
    doubtful = _with(ladder_runs()[2], msgspec.structs.replace(shaky, doubt="clocks rose by 9 % while it ran"))
    assert _told(entries_of(results(ladder_runs()[0], doubtful))) == (
        "In doubt: The GPU time of sdpa_auto: clocks rose by 9 % while it ran."
    )


def test_dear_first_call_is_told_with_the_calls_that_pay_it_back() -> None:
    dear = _with(ladder_runs()[2], one("first_call", "ns", 8.2e9, "single"))
    told = _told(entries_of(results(ladder_runs()[0], dear)))
    assert told.startswith("Before you choose it: The first call of sdpa_auto costs 8.20 s")
    assert "after 1,800 calls of this shape" in told


def test_runs_of_two_machines_are_told() -> None:
    one_run, other = entries_of(results(*ladder_runs()[:2]))
    elsewhere = msgspec.structs.replace(H200, device_name="NVIDIA B200")
    moved = MeasuredEntry(
        key=other.key,
        variant=other.variant,
        run=other.run,
        workload=other.workload,
        plan=other.plan,
        environment=elsewhere,
    )
    assert "2 environments (NVIDIA B200 and NVIDIA H200)" in _told((one_run, moved))


def test_runs_with_other_caches_are_told() -> None:
    one_run, other = entries_of(results(*ladder_runs()[:2]))
    warm = MeasuredEntry(
        key=other.key,
        variant=other.variant,
        run=other.run,
        workload=other.workload,
        plan=Plan(cache=CachePolicy.WARM),
        environment=other.environment,
    )
    assert "cold and warm caches" in _told((one_run, warm))


def test_dear_first_call_is_not_paid_back_by_a_gain_that_cannot_be_told() -> None:
    base = _with(ladder_runs()[0], spread("gpu_time", 100.0, width=0.2))
    dear = _with(ladder_runs()[2], spread("gpu_time", 98.0, width=0.2), one("first_call", "ns", 8.2e9, "single"))
    call_times = [spread("call_time", 120.0, width=0.2)] * 2
    assert caveat(entries_of(results(_with(base, call_times[0]), _with(dear, call_times[1])))) is None
