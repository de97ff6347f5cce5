"""The supervisor on real processes; `tests.stand_in` measures where the protocol is what is tested."""

from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from profiles import lifeline
from profiles.environment import Environment
from profiles.job import TrialRequest
from profiles.plan import Order, Plan
from profiles.protocol import Progress
from profiles.results import Counts, Failure, FailureKind, KernelUse, Metric, Role, Run, RunStatus
from profiles.supervisor import Limits, MeasuredRun, TrialError, TrialOutcome, measure_trial
from profiles.supervisor.completion import far_from_timed
from profiles.trace.forward import ForwardSummary
from profiles.workload import DType, Workload
from tests.processes import living, wait_until

SWIGLU = Workload(operation="swiglu", dtype=DType.FP32, axes={"rows": 8, "width": 16, "hidden": 32})

LIMITS = Limits(time_s=60.0)
TRACES = Path(__file__).parent.parent / "data" / "traces"


@dataclass
class Listener:
    """Measures with the stand-in and keeps what it is told."""

    directory: Path
    progress: list[Progress] = field(default_factory=list)
    environments: list[Environment] = field(default_factory=list)
    measured: list[MeasuredRun] = field(default_factory=list)

    def measure(
        self,
        *variants: str,
        acts: tuple[str, ...] = (),
        order: Order = Order.INTERLEAVED,
        cancelled: Callable[[], bool] = lambda: False,
        limits: Limits = LIMITS,
        device: str = "cpu",
        windows: dict[str, float] | None = None,
    ) -> TrialOutcome:
        return measure_trial(
            TrialRequest(workload=SWIGLU, variants=variants),
            plan=Plan(order=order, budget_s=1.0),
            device=device,
            directory=self.directory,
            on_progress=self.progress.append,
            on_environment=self.environments.append,
            on_run=self.measured.append,
            cancelled=cancelled,
            limits=limits,
            windows_known=windows,
            program=("module", "tests.stand_in", *acts),
        )

    @property
    def measure_order(self) -> list[Run]:
        return [measured.run for measured in self.measured]

    @property
    def runs(self) -> dict[str, Run]:
        told = [measured.run for measured in self.measured]
        assert len({run.variant for run in told}) == len(told), "a run was told twice"
        return {run.variant: run for run in told}

    def failure(self, variant: str) -> Failure:
        failure = self.runs[variant].failure
        assert failure is not None
        return failure


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[Listener]:
    """Whatever the test did, no process that it started may be left."""
    yield Listener(tmp_path)
    assert wait_until(lambda: not living(naming=str(tmp_path)), 2.0), living(naming=str(tmp_path))


def test_every_variant_gets_a_run_in_the_order_of_the_request(listener: Listener) -> None:
    outcome = listener.measure("a", "b", "c")
    assert [(run.variant, run.status) for run in outcome.runs] == [(v, RunStatus.SUCCEEDED) for v in "abc"]
    assert tuple(listener.runs.values()) == outcome.runs
    assert not outcome.cancelled


def test_progress_and_the_environment_are_told_as_the_child_sends_them(listener: Listener) -> None:
    outcome = listener.measure("a", "b", order=Order.ISOLATED)
    assert [progress.variant for progress in listener.progress] == ["a", "b"]
    assert listener.progress[0].so_far == "11 of 30"
    assert listener.environments == [outcome.environment], "told once, though two children started"


def test_a_variant_killed_by_a_signal_fails_by_name_and_the_others_go_on(listener: Listener) -> None:
    listener.measure("a", "b", "c", acts=("b=kill:SIGSEGV",))
    assert listener.failure("b") == Failure(kind=FailureKind.CRASHED, message="killed by SIGSEGV while being timed")
    assert [listener.runs[v].status for v in "ac"] == [RunStatus.SUCCEEDED, RunStatus.SUCCEEDED]


def test_a_variant_that_exits_fails_with_the_last_line_that_it_printed(listener: Listener) -> None:
    listener.measure("a", "b", acts=("a=exit:CUDA error: misaligned address",))
    failure = listener.failure("a")
    first, *rest = failure.message.splitlines()
    assert failure.kind is FailureKind.CRASHED
    assert first == "exited with status 1 while being timed: RuntimeError: CUDA error: misaligned address"
    assert rest[0] == "Traceback (most recent call last):"
    assert listener.runs["b"].status is RunStatus.SUCCEEDED


def test_a_child_that_ends_well_but_early_fails_the_variant_it_was_at(listener: Listener) -> None:
    listener.measure("a", "b", acts=("a=quit",))
    assert listener.failure("a").message == "exited with status 0 while being timed"
    assert listener.runs["b"].status is RunStatus.SUCCEEDED


def test_a_trial_in_which_every_variant_kills_its_child_comes_to_an_end(listener: Listener) -> None:
    outcome = listener.measure("a", "b", "c", "d", acts=tuple(f"{v}=kill:SIGKILL" for v in "abcd"))
    assert [run.status for run in outcome.runs] == [RunStatus.FAILED] * 4
    assert all("SIGKILL" in listener.failure(variant).message for variant in "abcd")


def test_after_two_deaths_every_variant_gets_a_process_of_its_own(listener: Listener) -> None:
    listener.measure("a", "b", "c", "d", acts=("a=kill:SIGKILL", "b=kill:SIGKILL"))
    assert len(list(listener.directory.glob("spec-*.json"))) == 4  # abcd, bcd, c, d


def test_a_child_over_its_memory_limit_is_out_of_memory(listener: Listener) -> None:
    limits = Limits(memory_bytes=200 << 20)
    listener.measure("a", "b", acts=("a=allocate:400",), limits=limits)
    failure = listener.failure("a")
    assert failure.kind is FailureKind.OUT_OF_MEMORY
    assert failure.message.endswith("MiB of host memory while being timed: the limit is 200 MiB")
    assert listener.runs["b"].status is RunStatus.SUCCEEDED


def test_a_silent_child_times_out(listener: Listener) -> None:
    listener.measure("a", "b", acts=("a=sleep:60",), limits=Limits(silence_s=1.5))
    assert listener.failure("a") == Failure(
        kind=FailureKind.TIMEOUT, message="gave no sign of life for 1.5 s while being timed"
    )
    assert listener.runs["b"].status is RunStatus.SUCCEEDED


def test_a_child_over_its_time_limit_times_out(listener: Listener) -> None:
    listener.measure("a", acts=("a=sleep:60",), limits=Limits(time_s=1.0))
    assert listener.failure("a") == Failure(
        kind=FailureKind.TIMEOUT, message="ran longer than its limit of 5 s while being timed"
    )


def test_a_child_that_prints_without_end_is_stopped(listener: Listener) -> None:
    listener.measure("a", acts=("a=print",), limits=Limits(output_bytes=20 << 20))
    assert "of output while being timed: the limit is 20 MiB" in listener.failure("a").message


def test_a_child_that_breaks_the_protocol_fails_the_variant_it_was_at(listener: Listener) -> None:
    listener.measure("a", "b", acts=("a=babble",))
    failure = listener.failure("a")
    assert failure.kind is FailureKind.INTERNAL
    assert failure.message.startswith("the child sent what is no event while being timed: ")
    assert listener.runs["b"].status is RunStatus.SUCCEEDED


def test_a_child_that_cannot_start_is_an_error_with_its_own_words(listener: Listener) -> None:
    with pytest.raises(TrialError, match="did not start: exited with status 1: RuntimeError: No module named 'torch'"):
        listener.measure("a", acts=("start=exit:No module named 'torch'",))
    assert listener.measured == []


def test_cancelling_ends_every_process_within_two_seconds_even_those_that_left_the_group(listener: Listener) -> None:
    cancel = threading.Event()
    threading.Timer(1.0, cancel.set).start()
    started = time.monotonic()
    outcome = listener.measure("a", "b", "c", acts=("b=stray:60",), cancelled=cancel.is_set)
    assert time.monotonic() - started < 3.0
    assert outcome.cancelled
    assert [run.status for run in outcome.runs] == [RunStatus.SUCCEEDED, RunStatus.CANCELLED, RunStatus.CANCELLED]
    assert living(naming=str(listener.directory)) == []


def test_cancelling_ends_the_parser_of_a_trace_too(listener: Listener) -> None:
    parsing = lambda: [p for p in living(naming=str(listener.directory)) if "profiles.trace" in p.cmdline()]  # noqa: E731
    outcome = listener.measure(
        "a", "b", acts=(f"a=trace:{TRACES / 'cpu_naive.json.gz'}", "b=sleep:60"), cancelled=lambda: bool(parsing())
    )
    assert [run.status for run in outcome.runs] == [RunStatus.CANCELLED] * 2
    assert wait_until(lambda: not parsing(), 0.5)


def test_processes_that_a_child_leaves_behind_are_ended_with_it(listener: Listener) -> None:
    listener.measure("a", acts=("a=stray:0",))
    assert listener.runs["a"].status is RunStatus.SUCCEEDED
    assert living(naming=str(listener.directory)) == []


def test_a_trace_completes_the_run_with_counts_kernels_and_its_hash(listener: Listener) -> None:
    path = TRACES / "cuda_naive.json.gz"
    listener.measure("a", acts=(f"a=trace:{path}",), device="cuda:0")
    (measured,) = listener.measured
    run = measured.run
    assert run.status is RunStatus.SUCCEEDED
    assert run.counts is not None
    assert (run.counts.kernels, run.counts.memcpy) == (5, 1)
    assert len(run.kernels) >= 5
    assert run.trace == hashlib.sha256(path.read_bytes()).hexdigest()
    assert measured.timeline_path is not None
    assert measured.timeline_path.exists()
    traced = run.metric("traced_device_time")
    assert traced is not None
    assert (traced.samples, traced.interval) == (None, "min-max")
    assert traced.low is not None
    assert traced.high is not None
    assert traced.low <= traced.value <= traced.high


def test_a_cpu_trace_gives_operators_and_no_device_time(listener: Listener) -> None:
    listener.measure("a", acts=(f"a=trace:{TRACES / 'cpu_naive.json.gz'}",))
    run = listener.runs["a"]
    assert run.counts is not None
    assert (run.counts.operators, run.counts.kernels) == (6, None)
    assert run.metric("traced_device_time") is None


@pytest.mark.parametrize(("traced_ns", "told"), [(900, None), (1900, None), (16_000, "16 times"), (300, "0.3 times")])
def test_a_cpu_trace_far_from_the_timed_calls_says_so(traced_ns: int, told: str | None) -> None:
    times = {"total_ns": traced_ns, "min_ns": traced_ns, "max_ns": traced_ns}
    use = KernelUse(name="aten::mm", short_name="mm", role=Role.GEMM, stages=(), calls=1, position=0, **times)
    forward = ForwardSummary(counts=Counts(operators=1), kernels=(use,), device_time_ns=(), findings=())
    timed = Metric(name="call_time", unit="ns", statistic="median", value=1000.0)
    run = Run(variant="naive", status=RunStatus.SUCCEEDED, metrics=(timed,))
    found = [finding.message for finding in far_from_timed(run, forward, device="cpu")]
    assert (told in found[0]) if told else not found
    assert not far_from_timed(run, forward, device="cuda:0")


def test_a_lost_trace_is_captured_again_in_a_new_process(listener: Listener) -> None:
    listener.measure("a", "b", acts=(f"a=trace-later:{TRACES / 'cuda_naive.json.gz'}",), device="cuda:0")
    assert listener.runs["a"].status is RunStatus.SUCCEEDED
    assert listener.runs["a"].trace is not None
    assert len(list(listener.directory.glob("spec-*.json"))) == 2
    assert [run.variant for run in listener.measure_order] == ["b", "a"]


def test_a_trace_that_is_lost_twice_fails_the_run_and_keeps_its_times(listener: Listener) -> None:
    listener.measure("a", "b", acts=(f"a=trace:{TRACES / 'cpu_naive.json.gz'}",), device="cuda:0")
    run = listener.runs["a"]
    assert run.status is RunStatus.FAILED
    assert listener.failure("a").kind is FailureKind.TRACE_LOST
    assert listener.failure("a").message.endswith("(twice, the second in a new process)")
    assert run.metric("call_time") is not None
    assert listener.runs["b"].status is RunStatus.SUCCEEDED


def test_a_truncated_trace_is_a_lost_one(listener: Listener, tmp_path: Path) -> None:
    whole = (TRACES / "cuda_naive.json.gz").read_bytes()
    elsewhere = tmp_path.with_name("truncated.json.gz")
    elsewhere.write_bytes(whole[: len(whole) // 2])
    listener.measure("a", acts=(f"a=trace:{elsewhere}",), device="cuda:0")
    assert listener.failure("a").kind is FailureKind.TRACE_LOST


SUPERVISE = """
import sys
from pathlib import Path
from tests.profiles.test_supervisor import Listener
Listener(Path(sys.argv[1])).measure("a", acts=("a=sleep:60",))
"""


def test_no_child_outlives_a_supervisor_that_is_killed(listener: Listener) -> None:
    script = [sys.executable, "-c", SUPERVISE, str(listener.directory)]
    supervisor = subprocess.Popen(script, env=lifeline.environment())
    try:
        assert wait_until(
            lambda: any("tests.stand_in" in p.cmdline() for p in living(naming=str(listener.directory))), 10.0
        )
    finally:
        supervisor.kill()
        supervisor.wait()
    assert wait_until(lambda: not living(naming=str(listener.directory)), 2.0)


def test_a_module_under_the_lifeline_ends_when_its_standard_input_closes(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text("import time\nprint('up', flush=True)\ntime.sleep(60)\n")
    process = subprocess.Popen(
        lifeline.command("module", "endless"),
        env=lifeline.environment(PYTHONPATH=f"{Path.cwd()}:{tmp_path}"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(2.0) == -signal.SIGKILL
    process.stdout.close()


def test_what_windows_hold_is_found_once_for_all_children_and_for_later_trials(tmp_path: Path) -> None:
    first, second = Listener(tmp_path), Listener(tmp_path)
    acts = ("a=window", "b=window")
    found = first.measure("a", "b", acts=acts, order=Order.ISOLATED)
    assert found.window_ns is not None
    assert found.environment is not None
    later = second.measure("a", acts=acts, windows={found.environment.digest: found.window_ns})
    taken_off = [run.conditions and run.conditions.window_ns for run in (*first.measure_order, *second.measure_order)]
    assert taken_off == [found.window_ns] * 3
    assert later.window_ns == found.window_ns
