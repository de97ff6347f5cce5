"""The table as text, of results whose figures are obvious."""

from __future__ import annotations

import msgspec

from app.commands.command import Exit
from app.commands.outcome import exit_code
from app.commands.twin_table import described_twins
from app.commands.variant_table import described
from profiles.comparison.entry import entries_of
from profiles.comparison.judgement import with_comparisons
from profiles.environment import Environment
from profiles.plan import Plan
from profiles.results import Correctness, Counts, Failure, FailureKind, Metric, Results, Run, RunStatus, Trial
from profiles.workload import DType, Workload
from tests.profiles.comparison.builds import results as with_builds
from tests.profiles.comparison.builds import timed
from tests.profiles.comparison.walks import churned

H200 = Environment(device="cuda", device_name="NVIDIA H200", torch="2.11.0", python="3.12", platform="Linux")
SHAPE = {"batch": 8, "heads": 16, "kv_heads": 16, "seq_q": 1024, "seq_kv": 1024, "head_dim": 64, "causal": True}
WORKLOAD = Workload(operation="attention", axes=SHAPE, dtype=DType.BF16)


def measured(variant: str, time_ns: float, *, kernels: int, copies: int, doubt: str | None = None) -> Run:
    gpu_time = Metric(
        name="gpu_time",
        unit="ns",
        statistic="median",
        value=time_ns,
        low=time_ns * 0.99,
        high=time_ns * 1.01,
        interval="p25-p75",
        doubt=doubt,
    )
    return Run(
        variant=variant,
        status=RunStatus.SUCCEEDED,
        metrics=(gpu_time,),
        counts=Counts(kernels=kernels, memcpy=copies, memset=0, launches=kernels),
        correctness=Correctness(relative_l2=3.7e-3, max_abs=0.01, nonfinite=0, tolerance=1e-2, passed=True),
    )


NAIVE = measured("naive", 2_000_000.0, kernels=5, copies=1)
FLASH = measured("sdpa_flash", 100_000.0, kernels=1, copies=0)
REFUSED = Run(
    variant="sdpa_cudnn",
    status=RunStatus.REFUSED,
    failure=Failure(kind=FailureKind.UNSUPPORTED, message="cuDNN is not there"),
)
FAILED = Run(
    variant="sdpa_math",
    status=RunStatus.FAILED,
    failure=Failure(kind=FailureKind.OUT_OF_MEMORY, message="CUDA out of memory"),
)


def lines_of(*runs: Run, baseline: str | None = None) -> list[str]:
    return described(entries_of(results(*runs)), baseline=baseline, by="gpu_time")


def results(*runs: Run) -> Results:
    trial = Trial(workload=WORKLOAD, runs=runs)
    return Results(preset=None, plan=Plan(), environment=H200, trials=(trial,))


def cells(lines: list[str], variant: str) -> list[str]:
    return next(line.split() for line in lines if line.split()[:1] == [variant])


def test_a_row_has_the_time_its_spread_the_speed_up_and_each_count_apart() -> None:
    lines = lines_of(NAIVE, FLASH)
    assert lines[:2] == ["Attention: B8 H16 S1024 D64, causal, bf16", "NVIDIA H200, torch 2.11.0"]
    assert cells(lines, "naive") == ["naive", "2,000.0", "1,980.0–2,020.0", "baseline", "5", "1", "0", "5", "3.7e-03"]
    assert cells(lines, "sdpa_flash")[1:6] == ["100.0", "99.0–101.0", "20.0×", "1", "0"]


def test_a_column_without_any_figure_is_left_out() -> None:
    head = next(line for line in lines_of(NAIVE, FLASH) if line.startswith("variant"))
    assert "kernels" in head
    assert "operators" not in head
    assert "tokens/s" not in head


def test_the_reader_chooses_the_baseline() -> None:
    lines = lines_of(NAIVE, FLASH, baseline="sdpa_flash")
    assert "baseline" in cells(lines, "sdpa_flash")
    assert "0.05×" in cells(lines, "naive")


def test_what_has_no_numbers_says_why_below_the_table() -> None:
    lines = lines_of(NAIVE, REFUSED)
    assert cells(lines, "sdpa_cudnn")[-1] == "refused"
    assert "  sdpa_cudnn: refused, cuDNN is not there" in lines


def test_a_time_in_doubt_is_marked_and_explained() -> None:
    doubtful = measured("sdpa_flash", 100_000.0, kernels=1, copies=0, doubt="the clock changed")
    lines = lines_of(NAIVE, doubtful)
    assert cells(lines, "sdpa_flash")[1] == "100.0?"
    assert "  sdpa_flash: gpu_time is in doubt, the clock changed" in lines


def test_one_reason_for_several_doubts_is_told_once() -> None:
    run = measured("sdpa_flash", 100_000.0, kernels=1, copies=0, doubt="the clock changed")
    other = msgspec.structs.replace(run.metrics[0], name="useful_tflops")
    lines = lines_of(NAIVE, msgspec.structs.replace(run, metrics=(run.metrics[0], other)))
    assert "  sdpa_flash: gpu_time and useful_tflops are in doubt, the clock changed" in lines


def visited(run: Run, first_ms: float) -> Run:
    """With its visit to a neighbouring shape; the second takes 40 µs."""
    times = {"first_shape": first_ms * 1e6, "second_visit": 4e4}
    metrics = (Metric(name=name, unit="ns", statistic="single", value=value) for name, value in times.items())
    return msgspec.structs.replace(run, metrics=(*run.metrics, *metrics))


def test_a_dear_new_shape_is_told_below_the_table_and_a_cheap_one_is_not() -> None:
    lines = lines_of(visited(NAIVE, 0.07), visited(FLASH, 47.8))
    assert [line for line in lines if ": at a new shape" in line] == [
        "  sdpa_flash: at a new shape 47.8 ms, then 40.0 µs"
    ]


def test_a_walk_is_told_below_the_table_variant_by_variant() -> None:
    lines = described(entries_of(churned()), baseline=None, by="gpu_time")
    assert "  sdpa_auto: at each new KV length 47.8 ms, then 40.0 µs" in lines
    assert "  sdpa_flash: at each new KV length 40.0 µs, then 38.0 µs" in lines


def test_what_was_left_out_is_told_below_the_table() -> None:
    spared = msgspec.structs.replace(FLASH, notes=("no new shape was visited: it was long",))
    assert "  sdpa_flash: no new shape was visited: it was long" in lines_of(spared)


def test_no_line_ends_in_spaces() -> None:
    assert [line for line in lines_of(NAIVE, FLASH, REFUSED, FAILED) if line != line.rstrip()] == []


def test_refused_variants_are_no_failure_and_failed_ones_are() -> None:
    assert exit_code(entries_of(results(NAIVE, REFUSED))) is Exit.SUCCEEDED
    assert exit_code(entries_of(results(NAIVE, FAILED))) is Exit.FAILED


def test_with_builds_there_are_signs_intervals_and_what_speaks_against_them() -> None:
    runs = (timed("naive"), timed("sdpa_flash", 0.5, builds=5), timed("sdpa_math", 2.0), timed("sdpa_auto"))
    lines = described(entries_of(with_builds(runs)), baseline=None, by="gpu_time")
    assert cells(lines, "sdpa_flash")[3:] == ["▲", "2.00×", "1.99–2.01×", "5"]
    assert cells(lines, "sdpa_math")[3:5] == ["▼", "0.50×"]
    assert cells(lines, "sdpa_auto")[3:5] == ["≈", "1.00×"]
    assert "  sdpa_flash: speed-up, only 5 builds" in lines


def test_twins_are_listed_with_their_verdicts_and_counted() -> None:
    steady = msgspec.structs.replace(timed("naive"), twin=timed("naive", seed=1).metrics)
    wrong = msgspec.structs.replace(timed("sdpa_flash"), twin=timed("sdpa_flash", 0.9, seed=1).metrics)
    lines = described_twins(with_comparisons(with_builds((steady, wrong)), twins=True))
    assert cells(lines, "naive")[-2:] == ["equivalent", "10"]
    assert cells(lines, "sdpa_flash")[-2:] == ["faster", "10"]
    assert lines[-1] == "1 of 2 comparisons of a variant with itself is decided falsely: 1 faster and 1 equivalent."


def test_without_twins_nothing_is_counted() -> None:
    assert described_twins(with_comparisons(results(NAIVE), twins=True))[-1] == (
        "No variant could be compared with itself."
    )
