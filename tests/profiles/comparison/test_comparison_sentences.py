"""The answer in the words of verdicts: faster with an interval, as fast, not to be told apart, and why."""

from __future__ import annotations

import msgspec
import numpy as np

from profiles.comparison.answer import answer, whole_answer
from profiles.comparison.caveat import caveat
from profiles.comparison.entry import entries_of
from profiles.results import Metric, Run
from tests.profiles.comparison.builds import quiet, results, run, sampled, timed


def said(*runs: Run, base: str | None = None) -> str:
    return answer(entries_of(results(runs)), base_key=base).text


def test_the_fastest_is_named_with_its_ratio_and_interval() -> None:
    told = said(timed("naive", 5.0), timed("sdpa_flash"), timed("sdpa_math", 9.0))
    assert told == "sdpa_flash is 5.00× (4.99–5.01×) faster than naive."


def test_another_time_than_that_of_the_gpu_is_named() -> None:
    both = [run(name, sampled("call_time", quiet(ratio=by, seed=by))) for name, by in (("naive", 5), ("sdpa_flash", 1))]
    told = said(*both)
    assert told.startswith("sdpa_flash is 5.00×")
    assert told.endswith("faster than naive by back-to-back time.")


def test_equivalent_variants_differ_by_less_than_the_margin() -> None:
    told = said(timed("naive"), timed("sdpa_auto"))
    assert told.startswith("sdpa_auto and naive differ by less than the margin of 0.5 %: ")
    assert told.endswith("×).")


def test_undecided_variants_cannot_be_told_apart_and_a_longer_budget_may_decide() -> None:
    told = said(timed("naive", noise=0.02), timed("sdpa_auto", 0.99, noise=0.02))
    assert told.startswith("sdpa_auto and naive cannot be told apart: 1.0")
    assert told.endswith("×) after 10 builds. A longer budget may decide.")


def test_a_verdict_that_drift_may_have_turned_says_what_drifted() -> None:
    way = np.linspace(0, 0.06, 20)[:, None]
    told = said(
        *(
            run(name, sampled("gpu_time", quiet(20, ratio=ratio, seed=at) + way))
            for at, (name, ratio) in enumerate((("naive", 1.0), ("sdpa_auto", 0.98)))
        )
    )
    assert " cannot be told apart: 1.0" in told
    assert " after 20 builds, but naive grew slower by 3." in told
    assert told.endswith(" from the first half of its samples to the second. Measure again.")


def test_what_speaks_against_an_undecided_one_is_said_too() -> None:
    slowing = run("naive", sampled("gpu_time", quiet(20) + np.linspace(0, 0.06, 20)[:, None]))
    told = said(slowing, timed("sdpa_auto", 1.01, builds=20))
    assert " after 20 builds; naive grew slower by 3." in told
    assert told.endswith("the second. A longer budget may decide.")


def test_two_builds_are_too_few_to_say_more_than_the_ratio() -> None:
    told = said(timed("naive", builds=2), timed("sdpa_auto", 0.5, builds=2))
    assert told.endswith(" after 2 builds. A verdict needs 3; a longer budget may decide.")


def test_runs_of_different_trials_are_asked_to_be_measured_together() -> None:
    told = answer(entries_of(results((timed("naive"),), (timed("sdpa_flash", 0.5),)))).text
    assert told == (
        "sdpa_flash and naive were measured in different trials: 2.00× by their medians, without a verdict. "
        "Measure both in one job to decide."
    )


def test_the_best_baseline_says_how_much_longer_the_nearest_takes() -> None:
    told = said(timed("naive"), timed("sdpa_auto", 1.1), timed("sdpa_math", 3.0))
    assert told.startswith("Nothing measured here is faster than naive: 100.")
    assert told.endswith("The nearest, sdpa_auto, takes 9.9 % longer (9.6–10.2 %).")


def test_the_best_baseline_says_of_whom_it_is_not_known_to_be_the_best() -> None:
    wild = run("sdpa_math", sampled("gpu_time", quiet(10, noise=0.4, ratio=1.5)))
    told = said(timed("naive"), timed("sdpa_auto", 1.1), wild)
    assert told.startswith("Nothing measured here is known to be faster than naive: 100.")
    assert told.endswith(" %). sdpa_math cannot be told apart from naive.")


def test_the_best_baseline_says_who_is_as_fast() -> None:
    """Medians that a few samples have moved may stand in another order than the builds."""
    moved = sampled("gpu_time", quiet(10, seed=3))
    alike = run("sdpa_flash", msgspec.structs.replace(moved, value=1.2 * moved.value))
    told = said(timed("naive"), timed("sdpa_auto", 1.1), alike)
    assert told.startswith("Nothing measured here is faster than naive: 100.")
    assert told.endswith(" %). sdpa_flash is as fast as naive within the margin of 0.5 %.")


def test_what_was_measured_in_another_trial_is_not_said_to_be_alike() -> None:
    apart = (timed("sdpa_math", 3.0),)
    told = answer(entries_of(results((timed("naive"), timed("sdpa_auto", 1.1)), apart))).text
    assert told.startswith("Nothing measured here is known to be faster than naive: 100.")
    assert told.endswith(" %). sdpa_math was measured in a different trial: no verdict.")
    told = answer(entries_of(results((timed("naive"), timed("sdpa_auto", 0.5)), apart))).text
    assert told.endswith(" faster than naive. sdpa_math was measured in a different trial: no verdict.")


def test_as_fast_as_the_best_is_said_apart_from_what_cannot_be_told() -> None:
    told = said(timed("naive", 5.0), timed("sdpa_flash"), timed("sdpa_auto"), timed("sdpa_cudnn", 1.01, noise=0.02))
    assert " faster than naive. " in told
    assert "as fast within the margin of 0.5 %." in told
    assert told.endswith("sdpa_cudnn cannot be told apart from it.")


def test_a_decided_variant_wins_over_a_faster_median_that_is_not_decided() -> None:
    wild = run("sdpa_math", sampled("gpu_time", quiet(10, noise=0.4, ratio=0.85)))
    told = said(timed("naive"), timed("sdpa_flash", 0.9), wild)
    assert told.startswith("sdpa_flash is 1.11×")


def test_a_list_corrects_for_all_workloads_of_the_comparison() -> None:
    """The stored answer is that of the page, whose family are all its comparisons."""
    trial = timed("naive", seed=1), timed("sdpa_auto", 0.993, seed=2)
    others = [(timed("naive", seed=seed), timed("sdpa_auto", 0.9949, seed=100 + seed)) for seed in range(10, 29)]
    alone, all_of_them = results(trial), results(trial, *others)
    shapes = [
        msgspec.structs.replace(one, workload=msgspec.structs.replace(one.workload, seed=number))
        for number, one in enumerate(all_of_them.trials)
    ]
    entries = entries_of(msgspec.structs.replace(all_of_them, trials=tuple(shapes)))
    assert (whole_answer(entries_of(alone)) or "").startswith("sdpa_auto is 1.01×")
    assert (whole_answer(entries) or "").startswith("sdpa_auto and naive cannot be told apart")


def test_a_dear_first_call_is_not_paid_back_by_a_gain_that_is_not_decided() -> None:
    first = Metric(name="first_call", unit="ns", statistic="single", value=2e9)
    for ratio, told in ((0.99, False), (0.5, True)):
        dear = timed("sdpa_auto", ratio, noise=0.02)
        entries = entries_of(
            results((timed("naive", noise=0.02), msgspec.structs.replace(dear, metrics=(*dear.metrics, first))))
        )
        assert (caveat(entries) is not None) is told
