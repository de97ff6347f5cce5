"""What a measuring child may use, and the watch that says when it used more."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from profiles.plan import Plan
from profiles.results import Failure, FailureKind
from profiles.supervisor.processes import group_bytes
from profiles.workload import Workload

MIB = 1 << 20
WATCH_EVERY_S = 0.5
CHILD_FIRST_S = 2.0  # the child knows which variant is silent, and ends its process alone; this is for a silent child


# The most that honest work takes, with room: the fewest samples of slow variants take four budgets; a visit may
# compile; energy is a loop of 5 s and an idle device's 3 s; Nsight Compute replays each kernel many times.
BUDGETS = 4.0
VISIT_S, ENERGY_S, DEEP_S = 30.0, 15.0, 600.0


def planned_s(plan: Plan, workload: Workload, *, variants: int) -> float:
    """How long a child with so many variants may take for what the plan asks of it."""
    visits = len(plan.walk.values(int(workload.axes[plan.walk.axis]))) if plan.walk is not None else 0
    each = VISIT_S * visits + (ENERGY_S if plan.energy else 0.0) + (DEEP_S if plan.deep else 0.0)
    return BUDGETS * plan.budget_s + each * variants


def _most_of_the_memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * 9 // 10


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Of one measuring child. `time_s` comes on top of what the plan asks for; `silence_s` is the longest time
    without an event: compiling is silent.

    `memory_bytes` is host memory, None for no limit; it is watched where there is a /proc. `output_bytes` is all that
    it prints and writes into its directory.
    `trace_memory_bytes` and `trace_time_s` bound the child that parses one trace.
    """

    time_s: float = 3600.0
    silence_s: float = 600.0
    memory_bytes: int | None = msgspec.field(default_factory=_most_of_the_memory)
    output_bytes: int = 4096 * MIB
    trace_memory_bytes: int = 2048 * MIB
    trace_time_s: float = 120.0


@dataclass(slots=True)
class Watch:
    """Looks at one child now and then; time and silence are by the monotonic clock. `planned_s` is what the plan lets
    its variants take."""

    limits: Limits
    planned_s: float
    group: int
    directory: Path
    started: float = field(default_factory=time.monotonic)
    heard: float = field(default_factory=time.monotonic)
    looked: float = 0.0

    def hear(self) -> None:
        self.heard = time.monotonic()

    def excess(self, printed_bytes: int) -> Failure | None:
        """The first limit that is passed."""
        now = time.monotonic()
        longest_s = self.planned_s + self.limits.time_s
        if now - self.started > longest_s:
            return Failure(kind=FailureKind.TIMEOUT, message=f"ran longer than its limit of {longest_s:g} s")
        if now - self.heard > self.limits.silence_s + CHILD_FIRST_S:
            return Failure(kind=FailureKind.TIMEOUT, message=f"gave no sign of life for {self.limits.silence_s:g} s")
        if now - self.looked < WATCH_EVERY_S:
            return None
        self.looked = now
        return self._memory() or self._output(printed_bytes)

    def _memory(self) -> Failure | None:
        limit = self.limits.memory_bytes
        if limit is None or (used := group_bytes(self.group)) <= limit:
            return None
        return Failure(
            kind=FailureKind.OUT_OF_MEMORY,
            message=f"used {used // MIB:,} MiB of host memory: the limit is {limit // MIB:,} MiB",
        )

    def _output(self, printed_bytes: int) -> Failure | None:
        written = printed_bytes + sum(_size(path) for path in self.directory.iterdir())
        if written <= self.limits.output_bytes:
            return None
        return Failure(
            kind=FailureKind.CRASHED,
            message=f"wrote {written // MIB:,} MiB of output: the limit is {self.limits.output_bytes // MIB:,} MiB",
        )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
