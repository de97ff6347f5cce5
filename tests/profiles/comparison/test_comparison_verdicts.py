"""Who is compared with whom, and what becomes of runs that were not measured together, unstable, or without builds."""

from __future__ import annotations

import time

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.comparison.document import document
from profiles.comparison.entry import MeasuredEntry, entries_of
from profiles.comparison.judgement import judge, judge_time, with_comparisons
from profiles.comparison.speed import By
from profiles.comparison.table import rows
from profiles.comparison.verdicts import APART, ISOLATED
from profiles.plan import Plan
from profiles.results import Block, Results, Run
from profiles.verdict import VariantComparison, Verdict
from tests.profiles.comparison.builds import isolated, quiet, results, run, sampled, timed, without_builds

STEADY = 0.001


def compared(*runs: Run, plan: Plan | None = None) -> dict[str, VariantComparison]:
    return told(results(runs, plan=plan))


def told(found: Results) -> dict[str, VariantComparison]:
    return {one.candidate: one for trial in with_comparisons(found).trials for one in trial.comparisons}


def test_each_candidate_is_compared_with_the_operations_baseline() -> None:
    found = compared(timed("sdpa_flash", 0.5), timed("naive"), timed("sdpa_math", 2.0), timed("sdpa_auto", 1.0001))
    assert {name: one.verdict for name, one in found.items()} == {
        "sdpa_flash": Verdict.FASTER,
        "sdpa_math": Verdict.SLOWER,
        "sdpa_auto": Verdict.EQUIVALENT,
    }
    flash = found["sdpa_flash"]
    assert (flash.baseline, flash.metric, flash.builds, flash.margin) == ("naive", "gpu_time", 10, 0.005)
    assert flash.low is not None
    assert flash.high is not None
    assert flash.low < flash.ratio < flash.high
    assert flash.ratio == pytest.approx(2.0, rel=0.01)
    assert flash.notes == ()


def test_a_small_difference_in_much_noise_is_undecided() -> None:
    found = compared(timed("naive", noise=0.02), timed("sdpa_auto", 0.98, noise=0.02))["sdpa_auto"]
    assert found.verdict is Verdict.UNDECIDED
    assert found.low is not None
    assert found.low < 1.02 < (found.high or 0)


def test_the_plans_margin_decides_what_is_equivalent() -> None:
    runs = timed("naive"), timed("sdpa_auto", 0.98)
    assert compared(*runs)["sdpa_auto"].verdict is Verdict.FASTER
    assert compared(*runs, plan=Plan(margin=0.05))["sdpa_auto"].verdict is Verdict.EQUIVALENT


def test_every_time_that_has_builds_is_a_family_of_its_own() -> None:
    both = [
        run(name, sampled("gpu_time", quiet(ratio=gpu, seed=at)), sampled("call_time", quiet(ratio=call, seed=9 + at)))
        for at, (name, gpu, call) in enumerate((("naive", 1.0, 1.0), ("sdpa_flash", 0.5, 1.5)))
    ]
    (trial,) = with_comparisons(results(tuple(both))).trials
    assert [(one.metric, one.verdict) for one in trial.comparisons] == [
        ("gpu_time", Verdict.FASTER),
        ("call_time", Verdict.SLOWER),
    ]


def test_runs_without_builds_have_no_comparison_and_keep_their_spreads() -> None:
    bare = [without_builds(one) for one in (timed("naive"), timed("sdpa_flash", 0.5))]
    assert compared(*bare) == {}
    gain = rows(entries_of(results(tuple(bare))))[1].speed_up
    assert gain is not None
    assert (gain.judged, gain.apart, gain.faster) == (None, True, True)


def test_two_builds_give_a_ratio_and_say_that_they_are_too_few() -> None:
    found = compared(timed("naive", builds=2), timed("sdpa_flash", 0.5, builds=2))["sdpa_flash"]
    assert (found.low, found.high, found.verdict) == (None, None, Verdict.UNDECIDED)
    assert found.ratio == pytest.approx(2.0, rel=0.01)
    assert found.notes == ("only 2 builds: a verdict needs 3",)


def test_five_builds_decide_what_is_clear_and_say_how_few_they_are() -> None:
    found = compared(timed("naive", builds=5), timed("sdpa_flash", 0.5, builds=5))["sdpa_flash"]
    assert found.verdict is Verdict.FASTER
    assert found.notes == ("only 5 builds",)


def test_runs_of_different_trials_have_a_ratio_without_a_verdict() -> None:
    both = results((timed("naive"),), (timed("sdpa_flash", 0.5),))
    (found,) = judge(entries_of(both)).values()
    assert (found.low, found.high, found.verdict) == (None, None, Verdict.UNDECIDED)
    assert found.ratio == pytest.approx(2.0, rel=0.01)
    assert APART in found.notes


def test_different_trials_do_not_widen_the_others_family() -> None:
    lone = judge(entries_of(results((timed("naive"), timed("sdpa_flash", 0.98)))))
    among = judge(entries_of(results((timed("naive"), timed("sdpa_flash", 0.98)), (timed("sdpa_math", 2.0),))))
    assert among["B"] == lone["B"]


def test_isolated_runs_are_compared_unpaired_and_say_so() -> None:
    """Each process saw other circumstances in build 0, 1, …: pairing them would borrow certainty from chance."""
    wave = np.sin(np.arange(12))[:, None] * 0.02
    runs = (
        run("naive", sampled("gpu_time", quiet(12) + wave)),
        run("sdpa_auto", sampled("gpu_time", quiet(12) + wave)),
    )
    paired_up, apart = compared(*runs)["sdpa_auto"], compared(*runs, plan=isolated())["sdpa_auto"]
    assert paired_up.verdict is Verdict.EQUIVALENT
    assert apart.verdict is Verdict.UNDECIDED
    assert apart.notes == (ISOLATED,)


def test_a_family_spans_the_trials_of_a_job() -> None:
    """What is just decided alone is not when the job asked twenty such questions."""
    trial = timed("naive", seed=1), timed("sdpa_auto", 0.993, seed=2)
    assert compared(*trial)["sdpa_auto"].verdict is Verdict.FASTER
    undecided = [(timed("naive", seed=seed), timed("sdpa_auto", 0.9949, seed=100 + seed)) for seed in range(10, 29)]
    everywhere = with_comparisons(results(trial, *undecided)).trials[0].comparisons[0]
    assert everywhere.verdict is Verdict.UNDECIDED


def test_an_unstable_run_is_undecided_where_its_drift_could_have_made_the_difference() -> None:
    slowing = run("naive", sampled("gpu_time", quiet(20) + np.linspace(0, 0.06, 20)[:, None]))
    close, far = timed("sdpa_auto", 1.01, builds=20), timed("sdpa_flash", 0.2, builds=20)
    found = compared(slowing, close, far)
    assert found["sdpa_auto"].verdict is Verdict.UNDECIDED
    assert found["sdpa_flash"].verdict is Verdict.FASTER
    assert all(one.notes[0].startswith("naive grew slower by 3.") for one in found.values())


def test_what_drifts_in_both_alike_still_makes_them_unstable() -> None:
    way = np.linspace(0, 0.06, 20)[:, None]
    both = [
        run(name, sampled("gpu_time", quiet(20, ratio=ratio, seed=at) + way))
        for at, (name, ratio) in enumerate((("naive", 1.0), ("sdpa_auto", 0.98)))
    ]
    found = compared(*both)["sdpa_auto"]
    assert found.verdict is Verdict.UNDECIDED
    assert found.low is not None
    assert found.low > 1.005  # the interval alone would decide: the notes say what speaks against it
    assert len(found.notes) == 2


def test_a_falling_clock_is_noted_once_for_both() -> None:
    blocks = tuple(Block(build=at, at_s=float(at), sm_clock_mhz=1980 - 10 * at) for at in range(10))
    runs = [msgspec.structs.replace(one, blocks=blocks) for one in (timed("naive"), timed("sdpa_flash", 0.5))]
    assert compared(*runs)["sdpa_flash"].notes == ("clock fell 4 %",)


def test_a_variant_is_compared_with_its_twin() -> None:
    twins = [
        msgspec.structs.replace(timed(name, ratio), twin=timed(name, ratio, seed=at).metrics)
        for at, (name, ratio) in enumerate((("naive", 1.0), ("sdpa_flash", 0.2)))
    ]
    (trial,) = with_comparisons(results(tuple(twins)), twins=True).trials
    assert [(one.baseline, one.candidate, one.verdict) for one in trial.comparisons] == [
        ("naive", "naive", Verdict.EQUIVALENT),
        ("sdpa_flash", "sdpa_flash", Verdict.EQUIVALENT),
    ]


def test_the_viewers_baseline_turns_the_comparisons_round() -> None:
    entries = entries_of(results((timed("naive"), timed("sdpa_flash", 0.5))))
    (there,) = judge(entries).values()
    (back,) = judge(entries, base_key="sdpa_flash").values()
    assert (back.baseline, back.candidate, back.verdict) == ("sdpa_flash", "naive", Verdict.SLOWER)
    assert back.ratio == pytest.approx(1 / there.ratio)
    assert back.low == pytest.approx(1 / (there.high or 0))


def test_a_document_carries_the_comparisons_with_the_chosen_baseline_by_every_time() -> None:
    both = [
        run(
            name,
            sampled("gpu_time", quiet(ratio=ratio, seed=at)),
            sampled("call_time", quiet(ratio=ratio, seed=9 + at)),
        )
        for at, (name, ratio) in enumerate((("naive", 1.0), ("sdpa_flash", 0.5)))
    ]
    entries = entries_of(results(tuple(both)))
    (workload,) = document(entries, base_key="B", by="call_time", source=lambda _: "").workloads
    assert [(one.baseline, one.metric) for one in workload.comparisons] == [
        ("sdpa_flash", "gpu_time"),
        ("sdpa_flash", "call_time"),
    ]
    assert workload.rows[1].comparison == workload.comparisons[1]
    assert workload.rows[1].speed_up == workload.comparisons[1].ratio


def test_zeros_of_a_foreign_file_decide_nothing() -> None:
    broken = run("naive", msgspec.structs.replace(sampled("gpu_time", quiet()), samples=(0.0,) * 50))
    found = compared(broken, timed("sdpa_flash", 0.5))["sdpa_flash"]
    assert (found.verdict, found.builds) == (Verdict.UNDECIDED, 0)


@settings(max_examples=60, deadline=None)
@given(
    ratios=st.lists(st.floats(0.9, 1.1), min_size=1, max_size=5),
    noise=st.floats(1e-5, 0.05),
    builds=st.integers(2, 20),
    seed=st.integers(0, 1000),
)
def test_an_interval_and_its_verdict_never_contradict_each_other(
    ratios: list[float], noise: float, builds: int, seed: int
) -> None:
    variants = [timed(f"v{at}", ratio, builds=builds, seed=seed + at, noise=noise) for at, ratio in enumerate(ratios)]
    entries = entries_of(results((timed("naive", builds=builds, seed=seed + 50, noise=noise), *variants)))
    for one in judge(entries).values():
        if one.low is None or one.high is None:
            assert one.verdict is Verdict.UNDECIDED
            continue
        top = 1 + one.margin
        assert (one.verdict is not Verdict.FASTER) or one.low > top
        assert (one.verdict is not Verdict.SLOWER) or one.high < 1 / top
        assert (one.verdict is not Verdict.EQUIVALENT) or (1 / top <= one.low and one.high <= top)
        assert one.low <= one.ratio <= one.high


def test_a_change_of_baseline_is_worked_out_while_nobody_waits() -> None:
    """Seven variants, three times, 80 builds of five samples."""
    runs = tuple(
        run(f"v{at}", *(sampled(name, quiet(80, seed=at)) for name in ("gpu_time", "call_time", "graph_time")))
        for at in range(7)
    )
    entries: tuple[MeasuredEntry, ...] = entries_of(results(runs))
    judge(entries)
    durations = []
    for _ in range(5):
        start = time.process_time()  # other tests run beside this one
        for by in (By.GPU_TIME, By.CALL_TIME, By.GRAPH_TIME):
            judge_time(entries, by, base_key="v3")
        durations.append(time.process_time() - start)
    assert min(durations) < 0.1  # 15 ms on a quiet machine
