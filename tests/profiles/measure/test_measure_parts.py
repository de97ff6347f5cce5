"""The parts of the child, each by itself: pace, order, metrics, memory, failures, forks."""

from __future__ import annotations

import os
import signal
import tempfile
from collections import Counter
from pathlib import Path

import pytest
import torch
from torch import Tensor

from profiles.measure.device import DeviceLostError
from profiles.measure.failures import VariantError, code_of, ended, first_cause
from profiles.measure.forks import Spotlight, run_in_fork
from profiles.measure.memory import call_memory
from profiles.measure.messages import Inbox, Message, Outbox, Passed, Trouble
from profiles.measure.metrics import rate_metric, time_metric
from profiles.measure.rounds import least_samples, pace, shuffled_rounds
from profiles.measure.subject import Subject
from profiles.operations.implementation import UnsupportedError, parts
from profiles.plan import Plan
from profiles.results import FailureKind, RunStatus

CPU = torch.device("cpu")
PLAN = Plan(samples=30, budget_s=15.0)


# --- pace and order -------------------------------------------------------------------------------------------------


def test_a_fast_call_gets_all_samples_over_the_plans_builds_in_blocks_of_many_calls() -> None:
    fast = pace(1e-4, plan=PLAN, subjects=5)
    assert (fast.builds, fast.per_build, fast.doubt) == (8, 4, None)
    assert fast.samples == 32  # at least the 30 that were asked for
    assert fast.calls(1e-4) == 100  # 10 ms


def test_a_block_follows_how_long_calls_take_now() -> None:
    fast = pace(1e-4, plan=PLAN, subjects=5)
    assert fast.calls(1e-3) == 10
    assert fast.calls(10.0) == 1


def test_a_tight_budget_never_goes_below_twenty_samples() -> None:
    slow = pace(0.2, plan=PLAN, subjects=5)  # 24 turns of two calls: 10 s of a share of 3 s
    assert (slow.builds, slow.per_build, slow.doubt) == (8, 3, None)
    assert slow.calls(0.2) == 1


def test_a_call_of_a_second_among_many_variants_still_has_twenty_samples() -> None:
    assert pace(1.0, plan=PLAN, subjects=7).samples == 24


def test_an_enormous_call_gets_fewer_samples_and_a_doubt() -> None:
    enormous = pace(12.0, plan=PLAN, subjects=1)
    assert (enormous.builds, enormous.per_build) == (3, 1)
    assert enormous.doubt == "only 3 samples: one call takes 12.0 s"


def test_a_plan_of_very_many_builds_has_one_turn_in_each() -> None:
    many = pace(1e-4, plan=Plan(samples=30, builds=1000, budget_s=600.0), subjects=1)
    assert (many.builds, many.per_build) == (1000, 1)


@pytest.mark.parametrize(("builds", "least"), [(2, 20), (8, 24), (7, 21), (20, 20), (1000, 20)])
def test_the_least_samples_are_twenty_in_whole_builds_unless_there_are_more_builds(builds: int, least: int) -> None:
    assert least_samples(builds) == least


def test_rounds_are_shuffled_alike_for_equal_seeds_and_hold_each_candidate_once() -> None:
    turns = [20] * 4
    order = list(shuffled_rounds(turns, seed=7))
    assert order == list(shuffled_rounds(turns, seed=7))
    assert order != list(shuffled_rounds(turns, seed=8))
    by_round = [[index for number, index in order if number == wanted] for wanted in range(20)]
    assert all(sorted(indices) == [0, 1, 2, 3] for indices in by_round)
    assert len({tuple(indices) for indices in by_round}) > 5


def test_a_candidate_with_fewer_turns_sits_out_the_last_rounds() -> None:
    counts = Counter(index for _, index in shuffled_rounds([5, 3], seed=0))
    assert counts == {0: 5, 1: 3}


# --- metrics --------------------------------------------------------------------------------------------------------


def test_a_time_is_the_median_between_its_quartiles() -> None:
    metric = time_metric("call_time", [5.0, 1.0, 2.0, 4.0, 3.0])
    assert (metric.low, metric.value, metric.high, metric.interval) == (2.0, 3.0, 4.0, "p25-p75")
    assert metric.samples == (5.0, 1.0, 2.0, 4.0, 3.0)


def test_samples_keep_their_builds_and_moments() -> None:
    metric = time_metric("gpu_time", [5.0, 6.0], builds=[0, 1], at_s=[0.12345, 1.5], method="gated events")
    assert (metric.builds, metric.at_s, metric.method) == ((0, 1), (0.123, 1.5), "gated events")


def test_samples_keep_six_digits() -> None:
    assert time_metric("call_time", [123456.789]).samples == (123457.0,)


def test_a_rate_is_high_where_the_time_is_low_and_inherits_its_doubt() -> None:
    time = time_metric("gpu_time", [1e9, 2e9, 4e9, 4e9, 8e9], doubt="late")
    rate = rate_metric("tokens_per_s", "tokens/s", amount=8, time=time)
    assert (rate.low, rate.value, rate.high) == (2.0, 2.0, 4.0)
    assert (rate.statistic, rate.doubt) == ("at median gpu_time", "late")


# --- memory ---------------------------------------------------------------------------------------------------------


def subject(function: object) -> Subject:
    forward, context = parts(function)  # type: ignore[arg-type]
    return Subject("naive", forward, None, context, Path(tempfile.gettempdir()))  # nothing is compiled


def test_peak_memory_counts_what_lives_at_the_same_time() -> None:
    def two_then_one(_: None) -> Tensor:
        first = torch.ones(1 << 18)  # 1 MiB
        second = first * 2
        del first
        return second + 1

    found = call_memory(subject(two_then_one), CPU)
    assert found.peak == pytest.approx(2 << 20, abs=64)  # beside torch's scalars
    assert found.workspace == pytest.approx(1 << 20, abs=64)  # the output is the other half
    assert found.reserved is None


# --- failures -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (UnsupportedError("no"), RunStatus.REFUSED, FailureKind.UNSUPPORTED),
        (RuntimeError("No available kernel. Aborting execution."), RunStatus.REFUSED, FailureKind.UNSUPPORTED),
        (RuntimeError("\"addmm_impl_cpu_\" not implemented for 'Half'"), RunStatus.REFUSED, FailureKind.UNSUPPORTED),
        (torch.OutOfMemoryError("CUDA out of memory."), RunStatus.FAILED, FailureKind.OUT_OF_MEMORY),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), RunStatus.FAILED, FailureKind.OUT_OF_MEMORY),
        (MemoryError(), RunStatus.FAILED, FailureKind.OUT_OF_MEMORY),
        (ZeroDivisionError("division by zero"), RunStatus.FAILED, FailureKind.CRASHED),
    ],
)
def test_an_error_becomes_the_run_that_it_means(error: Exception, status: RunStatus, kind: FailureKind) -> None:
    run = ended("naive", error)
    assert run.failure is not None
    assert (run.status, run.failure.kind) == (status, kind)


def test_a_missing_package_is_named() -> None:
    run = ended("sdpa", ModuleNotFoundError("No module named 'transformers'", name="transformers"))
    assert run.failure is not None
    assert (run.status, run.failure.message) == (RunStatus.REFUSED, "package transformers is not installed")


def test_a_package_that_does_not_fit_its_neighbours_is_a_refusal() -> None:
    run = ended("sdpa", ImportError("huggingface-hub>=1.5.0,<2.0 is required, but found huggingface-hub==2.4.0."))
    assert run.failure is not None
    assert run.status is RunStatus.REFUSED
    assert run.failure.message.startswith("cannot be imported here: huggingface-hub>=1.5.0,<2.0 is required")


def test_advice_to_torchs_developers_is_left_out() -> None:
    text = "InvalidCxxCompiler: No working C++ compiler found\n\nSet TORCHDYNAMO_VERBOSE=1 for the internal stack trace"
    run = ended("unfused@compile", RuntimeError(text))
    assert run.failure is not None
    assert (run.status, run.failure.message) == (
        RunStatus.REFUSED,
        "InvalidCxxCompiler: No working C++ compiler found",
    )


def test_a_message_is_one_line_of_bounded_length() -> None:
    run = ended("naive", ValueError("first\nsecond " + "x" * 10_000))
    assert run.failure is not None
    assert run.failure.message.startswith("ValueError: first second x")
    assert len(run.failure.message) < 700


def test_a_broken_device_is_no_ordinary_failure() -> None:
    error = RuntimeError("CUDA error: an illegal memory access was encountered")
    with pytest.raises(DeviceLostError, match="illegal memory access"), code_of("naive"):
        raise error


def test_a_device_that_a_capture_broke_is_lost_whatever_the_first_cause_was() -> None:
    """Else the next variant that is called meets the broken device, and is blamed."""
    error = DeviceLostError("capturing a CUDA graph broke the device: operation not permitted")
    with pytest.raises(DeviceLostError, match="operation not permitted"), code_of("naive"):
        raise error


def test_the_first_cause_of_a_broken_capture_is_what_the_call_did() -> None:
    def breaks() -> None:
        try:
            raise ValueError("asks the device\nand more")
        finally:
            raise RuntimeError("the capture was invalidated")

    with pytest.raises(RuntimeError) as caught:
        breaks()
    assert first_cause(caught.value) == "asks the device"


def test_code_of_a_variant_may_raise_anything() -> None:
    with pytest.raises(VariantError) as caught, code_of("naive"):
        raise KeyError("x")
    assert caught.value.run.variant == "naive"


# --- forks ----------------------------------------------------------------------------------------------------------


def forked(work: object) -> tuple[str | None, list[Message]]:
    heard: list[Message] = []
    return run_in_fork(work, receive=heard.append), heard  # type: ignore[arg-type]


def test_a_fork_says_what_it_found_and_ends() -> None:
    death, heard = forked(lambda outbox: outbox.send(Passed(variant="naive", first_call_ns=7)))
    assert (death, heard) == (None, [Passed(variant="naive", first_call_ns=7)])


def test_a_killed_fork_names_the_signal() -> None:
    death, heard = forked(lambda _: os.kill(os.getpid(), signal.SIGTERM))
    assert (death, heard) == ("the process was killed by SIGTERM", [])


def test_an_error_of_ours_is_told_before_the_fork_ends(capfd: pytest.CaptureFixture[str]) -> None:
    death, heard = forked(lambda _: dict[str, None]()["x"])
    assert death is None
    assert heard == [Trouble(message="KeyError: 'x'", kind=FailureKind.INTERNAL)]
    assert "KeyError" in capfd.readouterr().err


def test_the_spotlight_outlives_the_process_that_pointed_it() -> None:
    spotlight = Spotlight(("naive", "sdpa_flash"))

    def point_and_die(_: Outbox) -> None:
        spotlight.point_at("sdpa_flash")
        os.kill(os.getpid(), signal.SIGKILL)

    forked(point_and_die)
    assert spotlight.variant == "sdpa_flash"


def test_messages_are_cut_at_lines_however_they_arrive() -> None:
    line = b'{"type":"passed","variant":"naive","first_call_ns":5}\n'
    inbox = Inbox()
    heard = [message for byte in line * 3 for message in inbox.take(bytes([byte]))]
    assert heard == [Passed(variant="naive", first_call_ns=5)] * 3
