"""What a run's recording says beside its counts: which of them are in doubt, and why the GPU was idle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from profiles.comparison.figures import percent, prose_time
from profiles.recorded import GapCause, Recorded
from profiles.results import Counts, Finding

UNSTABLE = ("kernels", "operators")
IN_WORDS = ("kernels", "operators", "memcpy", "memset")
IDLE = {"idle"}
TIMES = {"traced_device_time", "times by operator and role"}


class Counted(Protocol):
    """A run, or what is stored of it beside its metrics and kernels."""

    @property
    def counts(self) -> Counts | None: ...
    @property
    def trace_health(self) -> tuple[Finding, ...]: ...


def count_doubt(run: Counted, name: str) -> str | None:
    """Why `counts.<name>` is in doubt; None where it is not, or is not known at all."""
    if run.counts is None or not getattr(run.counts, name):
        return None
    if run.counts.unstable and name in UNSTABLE:
        return f"unstable: {', '.join(map(str, run.counts.unstable))} in equal passes"
    return _reasons(run.trace_health, {"counts", f"counts.{name}"})


def counts_doubt(run: Counted) -> str | None:
    """Why any of the counts that are told in words is in doubt."""
    reasons = dict.fromkeys(filter(None, (count_doubt(run, name) for name in IN_WORDS)))
    return "; ".join(reasons) or None


def times_doubt(run: Counted) -> str | None:
    """Why the times of its kernels are in doubt."""
    return _reasons(run.trace_health, TIMES)


def idle_doubt(findings: Sequence[Finding]) -> str | None:
    """Why it is in doubt for how long its device was idle."""
    return _reasons(findings, IDLE)


def idle_sentence(recorded: Recorded) -> str:
    """`42.0 µs idle of 178.5 µs under the profiler: 38.0 µs host late, 4.0 µs between kernels`. The profiler itself
    makes the host later than it is."""
    idle_ns = sum(idle.total_ns for idle in recorded.idle)
    if not idle_ns:
        return f"never idle within {prose_time(recorded.span_ns)} under the profiler"
    causes = ", ".join(f"{prose_time(idle.total_ns)} {_named(idle.cause)}" for idle in recorded.idle)
    return f"{prose_time(idle_ns)} idle of {prose_time(recorded.span_ns)} under the profiler: {causes}"


def attribution_sentence(recorded: Recorded) -> str | None:
    """How many kernels were joined to their launches; None where each was, by a launch of its own."""
    found = recorded.kernels
    if found.coverage is None or found.exact == found.total:
        return None
    parts = (
        (found.by_graph, "by a graph's launch"),
        (found.inferred, "launched before the recording, by order"),
        (found.unknown, "without a launch"),
    )
    told = ", ".join(f"{number:,} {words}" for number, words in parts if number)
    return f"{percent(found.coverage)} of {found.total:,} recorded kernels joined to launches ({told})"


def _named(cause: GapCause) -> str:
    return "for no known cause" if cause is GapCause.NOT_KNOWN else str(cause)


def _reasons(findings: Sequence[Finding], numbers: set[str]) -> str | None:
    found = [finding.message for finding in findings if numbers & set(finding.doubtful)]
    return "; ".join(found) or None
