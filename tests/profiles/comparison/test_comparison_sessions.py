"""Runs that one process timed in turns are paired build by build; those of two processes are not, and say so."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from profiles.comparison.judgement import with_comparisons
from profiles.comparison.verdicts import RESTARTED
from profiles.results import Conditions, Run
from profiles.verdict import VariantComparison, Verdict
from tests.profiles.comparison.builds import quiet, results, run, sampled

WAVE = np.sin(np.arange(12))[:, None] * 0.02


def of_session(variant: str, session: str | None) -> Run:
    measured = run(variant, sampled("gpu_time", quiet(12) + WAVE))
    return msgspec.structs.replace(measured, conditions=Conditions(session=session))


def compared(*sessions: str | None) -> VariantComparison:
    runs = tuple(of_session(variant, s) for variant, s in zip(("naive", "sdpa_auto"), sessions, strict=True))
    return with_comparisons(results(runs)).trials[0].comparisons[0]


@pytest.mark.parametrize("sessions", [("a", "a"), (None, None), ("a", None)])
def test_what_was_timed_in_turns_or_does_not_tell_is_paired(sessions: tuple[str | None, str | None]) -> None:
    found = compared(*sessions)
    assert found.verdict is Verdict.EQUIVALENT
    assert RESTARTED not in found.notes


def test_what_two_processes_timed_is_not_paired_and_says_so() -> None:
    found = compared("a", "b")
    assert found.verdict is Verdict.UNDECIDED
    assert RESTARTED in found.notes
