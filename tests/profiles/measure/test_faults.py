"""A crash, a hang, a want of memory are one variant's; the others are measured, and say with whom."""

from __future__ import annotations

from pathlib import Path

import pytest

from profiles.protocol import Phase
from profiles.results import FailureKind, Run, RunStatus
from tests.profiles.measure.child import QUICK, Heard, heard_to_the_end, isolated, started
from tests.profiles.measure.misbehaving import DOUBLING

PROGRAM = "tests.profiles.measure.misbehaving"


def session_of(run: Run) -> str | None:
    return run.conditions.session if run.conditions is not None else None


@pytest.fixture(scope="module", params=["interleaved", "isolated"])
def heard(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Heard:
    plan = QUICK if request.param == "interleaved" else isolated(QUICK)
    variants = ("well", "hangs_after_some_calls", "wants_too_much")
    directory = tmp_path_factory.mktemp(request.param)
    with started(directory, workload=DOUBLING, variants=variants, plan=plan, program=PROGRAM, silence_s=10.0) as child:
        return heard_to_the_end(child)


def test_a_hang_is_the_timeout_of_the_variant_that_hangs(heard: Heard) -> None:
    run = heard.runs["hangs_after_some_calls"]
    assert run.status is RunStatus.FAILED
    assert run.failure is not None
    assert run.failure.kind is FailureKind.TIMEOUT
    assert run.failure.message.startswith("gave no sign of life for 10 s while ")


def test_a_want_of_memory_is_that_of_the_variant_that_wants_it(heard: Heard) -> None:
    failure = heard.runs["wants_too_much"].failure
    assert failure is not None
    assert failure.kind is FailureKind.OUT_OF_MEMORY


def test_the_others_are_measured(heard: Heard) -> None:
    assert heard.code == 0
    assert heard.runs["well"].status is RunStatus.SUCCEEDED, heard.runs["well"].failure


def test_what_is_timed_in_turns_is_of_one_session_and_what_is_not_is_not(tmp_path: Path) -> None:
    with started(tmp_path, variants=("naive", "sdpa_flash")) as child:
        together = heard_to_the_end(child).runs
    assert session_of(together["naive"]) == session_of(together["sdpa_flash"])
    assert session_of(together["naive"]) is not None
    with started(tmp_path, variants=("naive", "sdpa_flash"), plan=isolated(QUICK)) as child:
        apart = heard_to_the_end(child).runs
    sessions = {session_of(run) for run in (*apart.values(), *together.values())}
    assert len(sessions) == 3


def test_a_death_in_the_traced_pass_costs_the_others_no_times(tmp_path: Path) -> None:
    variants = ("well", "dies_when_traced", "raises_when_traced", "well_too")
    with started(tmp_path, workload=DOUBLING, variants=variants, program=PROGRAM) as child:
        heard = heard_to_the_end(child)
    first, dead, raised, last = (heard.runs[variant] for variant in variants)
    assert dead.failure is not None
    assert dead.failure.kind is FailureKind.CRASHED
    assert [first.status, last.status] == [RunStatus.SUCCEEDED] * 2
    assert session_of(first) == session_of(last), "timed in turns, though traced in two processes"
    timed = [event for event in heard.progress if event.variant == "well_too" and event.phase is Phase.TIMED]
    assert [event.done for event in timed].count(1.0) == 1
    assert last.metric("peak_memory") is not None
    assert last.correctness is not None
    assert heard.finished["well_too"].trace_file == "well_too.json.gz"
    for run in (dead, raised):
        assert run.status is RunStatus.FAILED
        assert run.correctness is not None, "whatever ends it later, it was checked"
        assert session_of(run) == session_of(first)
        assert run.metrics == ()
    assert raised.failure is not None
    assert raised.failure.message == "ZeroDivisionError: 1000 by zero"


def test_a_twin_that_raises_ends_its_run_with_all_that_is_known_of_it(tmp_path: Path) -> None:
    variants = ("well", "raises_as_a_twin")
    with started(tmp_path, workload=DOUBLING, variants=variants, program=PROGRAM, twins=True) as child:
        heard = heard_to_the_end(child)
    well, run = (heard.runs[variant] for variant in variants)
    assert run.failure is not None
    assert run.failure.message == "ZeroDivisionError: 1000 by zero"
    assert run.correctness is not None
    assert run.correctness.passed
    assert session_of(run) == session_of(well)
    assert well.status is RunStatus.SUCCEEDED
    assert well.twin
