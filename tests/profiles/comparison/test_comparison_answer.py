"""The answer sentence: what it names, what it refuses to claim, and what it says while and after things go wrong."""

from __future__ import annotations

import msgspec

from profiles.comparison.answer import answer, whole_answer
from profiles.comparison.entry import entries_of
from profiles.comparison.parts import Kind
from profiles.results import Correctness, FailureKind, Results, Run, RunStatus, Trial
from tests.profiles.comparison.ladder import (
    H200,
    WORKLOAD,
    counts,
    failed,
    ladder,
    ladder_runs,
    measured,
    refused,
    results,
)
from tests.profiles.comparison.other import CPU, CPU_LADDER, DECODER, cpu_runs, decoder_runs, norm_runs, swiglu_runs
from tests.profiles.comparison.waiting import Waiting


def _same(variant: str, us: float, *, width: float) -> Run:
    return measured(
        variant, gpu_us=us, call_us=us, memory_mib=32, error=2e-3, counts=counts(1), kernels=[], width=width
    )


def test_answer_names_the_fastest_its_ratio_the_medians_and_what_changed() -> None:
    assert answer(ladder()).text == (
        "sdpa_auto is 25.4× faster than naive (medians 178.5 and 4,531.5 µs of GPU time): "
        "5 kernels and 1 copy became 1 kernel, 2,112 MiB of peak memory became 32; "
        "the output is equal within bf16 tolerance."
    )


def test_answer_follows_the_baseline_and_the_time_that_the_viewer_chose() -> None:
    told = answer(ladder(), base_key="sdpa_flash", by="call_time").text
    assert told.startswith(
        "sdpa_auto is 1.73× faster than sdpa_flash (medians 209.7 and 362.8 µs of back-to-back time)"
    )
    assert "both launch 1 kernel" in told


def test_names_are_mono_and_the_ratio_is_strong() -> None:
    parts = answer(ladder()).parts
    assert [part.text for part in parts if part.kind is Kind.MONO] == ["sdpa_auto", "naive"]
    assert [part.text for part in parts if part.kind is Kind.STRONG] == ["25.4×"]


def test_answer_says_so_when_the_baseline_is_the_best() -> None:
    assert answer(ladder(), base_key="C").text == (
        "Nothing measured here is faster than sdpa_auto: 178.5 µs of GPU time. "
        "The nearest, sdpa_cudnn, takes 1.7 % longer (181.6 µs)."
    )


def test_overlapping_spreads_cannot_be_told_apart_and_no_ratio_is_claimed() -> None:
    entries = entries_of(results(_same("naive", 100.0, width=0.1), _same("sdpa_auto", 98.0, width=0.1)))
    told = answer(entries).text
    assert told.startswith("sdpa_auto and naive cannot be told apart by this measurement (medians 98.0 and 100.0 µs")
    assert "×" not in told


def test_a_runner_up_within_the_spread_of_the_winner_is_named_beside_it() -> None:
    told = answer(entries_of(results(*norm_runs()))).text
    assert told.endswith("functional@compile cannot be told apart from it by this measurement.")


def test_compiled_pair_counts_kernels_of_each() -> None:
    assert "5 kernels became 4 kernels" in answer(entries_of(results(*swiglu_runs()))).text


def test_cpu_answer_compares_call_times_and_counts_operators() -> None:
    told = answer(entries_of(results(*cpu_runs(), workload=CPU_LADDER, environment=CPU))).text
    assert "(medians 1,950.0 and 6,300.0 µs of back-to-back time): 6 operators became 1 operator" in told


def test_whole_models_are_told_in_ms_and_tokens() -> None:
    told = answer(entries_of(results(*decoder_runs(), workload=DECODER))).text
    assert "(medians 56.50 and 122.30 ms of GPU time): 145,000 against 67,000 tokens/s" in told


def test_one_variant_alone_is_not_compared() -> None:
    assert answer(entries_of(results(ladder_runs()[0]))).text == (
        "naive takes 4,531.5 µs of GPU time; no other variant was measured."
    )


def test_open_variants_make_the_answer_provisional() -> None:
    entries = (*ladder(), Waiting("H", "sdpa_new"))
    assert answer(entries).text.endswith("7 of 8 measured, 1 to come; the answer may change.")
    assert answer(entries[-1:]).text == "Nothing is measured yet; 1 variant to come."


def test_nothing_measured_says_what_the_first_one_died_of() -> None:
    entries = entries_of(results(failed("naive", FailureKind.OUT_OF_MEMORY, "wanted 64.0 GiB")))
    assert answer(entries).text == "No variant could be measured. naive ran out of memory."


def test_all_refused_is_said_plainly() -> None:
    entries = entries_of(results(refused("sdpa_cudnn", "needs a cuda device")))
    assert answer(entries).text == "No variant could be measured: this worker refused all of them."


def test_incorrect_variant_never_wins() -> None:
    wrong = msgspec.structs.replace(
        _same("sdpa_auto", 1.0, width=0.001),
        status=RunStatus.INCORRECT,
        correctness=Correctness(relative_l2=None, max_abs=None, nonfinite=12, tolerance=1e-2, passed=False),
    )
    entries = entries_of(results(ladder_runs()[0], wrong))
    assert answer(entries).text.startswith("naive takes 4,531.5 µs")


def test_same_variant_from_two_machines_is_told_by_key() -> None:
    entries = entries_of(results(_same("sdpa_auto", 100.0, width=0.001), _same("sdpa_auto", 50.0, width=0.001)))
    assert answer(entries).text.startswith("sdpa_auto (B) is 2.00× faster than sdpa_auto (A)")


def test_unrecorded_counts_are_left_out() -> None:
    runs = [msgspec.structs.replace(run, counts=None) for run in ladder_runs()[:3]]
    assert "kernel" not in answer(entries_of(results(*runs))).text


def test_list_answer_tells_the_first_workload_and_counts_the_others() -> None:
    both = Results(
        preset=None,
        plan=results().plan,
        environment=H200,
        trials=(
            Trial(workload=WORKLOAD, runs=ladder_runs()),
            Trial(workload=DECODER, runs=tuple(decoder_runs())),
        ),
    )
    told = whole_answer(entries_of(both))
    assert told is not None
    assert told.startswith("sdpa_auto is 25.4×")
    assert told.endswith("And 1 more workload.")


def test_list_answer_waits_for_something_to_tell() -> None:
    assert whole_answer([Waiting("A", "naive")]) is None


def test_memory_that_weighs_nothing_is_left_to_the_table() -> None:
    def small(run: Run, size: float) -> Run:
        metrics = (msgspec.structs.replace(m, value=size) if m.name == "peak_memory" else m for m in run.metrics)
        return msgspec.structs.replace(run, metrics=tuple(metrics))

    naive, auto = ladder_runs()[0], ladder_runs()[2]
    assert "memory" not in answer(entries_of(results(small(naive, 2e5), small(auto, 2e4)))).text
    assert "memory" in answer(entries_of(results(small(naive, 2e6), small(auto, 2e4)))).text
