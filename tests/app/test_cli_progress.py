from __future__ import annotations

import io

from app.commands.progress import CLEAR, ProgressLines
from profiles.protocol import Phase, Progress
from profiles.results import Failure, FailureKind, Metric, Run, RunStatus


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def at(phase: Phase, done: float = 0.0, so_far: str | None = None) -> Progress:
    return Progress(variant="naive", phase=phase, done=done, so_far=so_far)


def test_a_terminal_shows_one_line_that_is_rewritten_and_keeps_the_outcome() -> None:
    stream = Terminal()
    lines = ProgressLines(stream)
    lines.progress(at(Phase.TIMED, 0.4, "12 of 30"))
    lines.run(Run(variant="naive", status=RunStatus.SUCCEEDED, metrics=(time(1_955_000.0),)))
    assert stream.getvalue() == f"{CLEAR}  naive: timing 40%  12 of 30{CLEAR}  naive: succeeded, 1.96 ms\n"


def test_a_file_gets_one_line_for_each_phase_of_a_trial() -> None:
    stream = io.StringIO()
    lines = ProgressLines(stream)
    for _ in range(2):
        lines.begin("a trial")
        for progress in (at(Phase.BUILD), at(Phase.TIMED, 0.1), at(Phase.TIMED, 0.2)):
            lines.progress(progress)
    assert stream.getvalue() == "a trial\n  naive: building\n  naive: timing\n" * 2


def test_a_failure_says_why() -> None:
    stream = io.StringIO()
    failure = Failure(kind=FailureKind.CRASHED, message="killed by SIGSEGV while being timed")
    ProgressLines(stream).run(Run(variant="naive", status=RunStatus.FAILED, failure=failure))
    assert stream.getvalue() == "  naive: failed: killed by SIGSEGV while being timed\n"


def time(ns: float) -> Metric:
    return Metric(name="gpu_time", unit="ns", statistic="median", value=ns)
