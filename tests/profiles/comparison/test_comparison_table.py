"""Rows and speed-ups of the variant table."""

from __future__ import annotations

import msgspec
import pytest

from profiles.comparison.entry import MeasuredEntry, State, entries_of, letters, sections, state
from profiles.comparison.speed import By, baseline, chosen, offered
from profiles.comparison.table import completeness, rows
from profiles.results import FailureKind, Metric, Results, Run, RunStatus, Trial
from tests.profiles.comparison.ladder import H200, failed, ladder, ladder_runs, refused, results
from tests.profiles.comparison.other import CPU, CPU_LADDER, NORM, SWIGLU, cpu_runs, norm_runs, swiglu_runs
from tests.profiles.comparison.waiting import Waiting


def test_baseline_is_first_then_the_fastest_then_what_has_no_figures() -> None:
    entries: tuple[MeasuredEntry | Waiting, ...] = (
        *ladder(refused("x", "no"), failed("y", FailureKind.CRASHED, "signal 11")),
        Waiting("J", "z"),
        Waiting("K", "lost", pending=False),
    )
    order = [row.entry.variant for row in rows(entries)]
    assert order == [
        *("naive", "sdpa_auto", "sdpa_cudnn", "sdpa_flash", "sdpa_efficient", "naive_inplace", "sdpa_math"),
        *("y", "lost", "z", "x"),
    ]


def test_speed_up_is_the_ratio_of_medians_against_the_chosen_baseline() -> None:
    by_variant = {row.entry.variant: row for row in rows(ladder(), base_key="sdpa_flash")}
    assert by_variant["sdpa_flash"].is_baseline
    assert by_variant["sdpa_flash"].speed_up is None
    gain = by_variant["naive"].speed_up
    assert gain is not None
    assert gain.ratio == pytest.approx(277.1 / 4531.5)
    assert (gain.faster, gain.slower, gain.apart) == (False, True, True)


def test_a_doubtful_time_marks_the_ratios_made_from_it() -> None:
    by_variant = {row.entry.variant: row.speed_up for row in rows(ladder(), by=By.CALL_TIME)}
    doubtful, sound = by_variant["sdpa_cudnn"], by_variant["sdpa_auto"]
    assert doubtful is not None
    assert doubtful.doubtful
    assert sound is not None
    assert not sound.doubtful


def test_incorrect_variant_has_its_time_but_no_speed_up() -> None:
    wrong = msgspec.structs.replace(ladder_runs()[2], status=RunStatus.INCORRECT)
    row = rows(entries_of(results(ladder_runs()[0], wrong)))[1]
    assert row.state is State.INCORRECT
    assert row.speed_up is None


def test_baseline_that_cannot_be_one_gives_way_to_the_operation_s_own() -> None:
    entries = ladder(refused("hub_flash", "not installed"))
    found = baseline(entries, "hub_flash", By.GPU_TIME)
    assert found is not None
    assert found.entry.variant == "naive"


def test_without_a_measured_run_there_is_no_baseline() -> None:
    assert baseline(entries_of(results(refused("naive", "no"))), None, By.GPU_TIME) is None


def test_a_time_that_is_not_positive_is_not_compared() -> None:
    zero = Run(
        variant="sdpa_auto",
        status=RunStatus.SUCCEEDED,
        metrics=(Metric(name="gpu_time", unit="ns", statistic="median", value=0.0),),
    )
    row = rows(entries_of(results(ladder_runs()[0], zero)))[1]
    assert row.speed_up is None


def test_cpu_has_no_gpu_time_to_choose() -> None:
    entries = entries_of(results(*cpu_runs(), workload=CPU_LADDER, environment=CPU))
    assert offered(entries) == (By.CALL_TIME,)
    assert chosen(entries, By.GPU_TIME) is By.CALL_TIME


def test_completeness_counts_every_state_and_the_numbers_in_doubt() -> None:
    entries: tuple[MeasuredEntry | Waiting, ...] = (
        *ladder(refused("x", "no"), failed("y", FailureKind.TIMEOUT, "60 s")),
        Waiting("J", "z"),
    )
    counts = completeness(entries)
    assert (counts.measured, counts.refused, counts.failed, counts.pending, counts.doubtful) == (7, 1, 1, 1, 1)
    assert counts.total == 10


def test_sections_group_by_workload_and_keys_run_through_all() -> None:
    both = Results(
        preset=None,
        plan=results().plan,
        environment=H200,
        trials=(
            Trial(workload=SWIGLU, runs=tuple(swiglu_runs())),
            Trial(workload=NORM, runs=tuple(norm_runs())),
            Trial(workload=SWIGLU, runs=(swiglu_runs()[0],)),
        ),
    )
    grouped = sections(entries_of(both))
    assert [[entry.key for entry in group] for group in grouped] == [["A", "B", "G"], ["C", "D", "E", "F"]]


def test_entry_whose_trial_ended_without_it_is_missing() -> None:
    assert state(Waiting("A", "naive", pending=False)) is State.MISSING


@pytest.mark.parametrize(("position", "key"), [(0, "A"), (25, "Z"), (26, "AA"), (27, "AB"), (701, "ZZ"), (702, "AAA")])
def test_keys_go_on_after_z(position: int, key: str) -> None:
    assert letters(position) == key
