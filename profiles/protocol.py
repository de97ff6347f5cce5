"""What the supervisor and the measuring child say to each other: a spec in, JSON lines out.

The spec is a JSON file; each event is one line on the file descriptor that the spec names, so that whatever libraries
print on stdout and stderr cannot break the conversation.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from profiles.ceilings import Ceilings
from profiles.environment import Environment
from profiles.plan import Plan
from profiles.results import Run
from profiles.workload import Workload


class Phase(StrEnum):
    """The steps of one variant, in order; the ticks of the Jobs page. `visited`: only where the plan has a walk."""

    BUILD = "build"
    ELIGIBLE = "eligible"
    FIRST_CALL = "first_call"
    VISITED = "visited"
    CORRECT = "correct"
    TIMED = "timed"
    TRACED = "traced"


DOING = {
    Phase.BUILD: "being built",
    Phase.ELIGIBLE: "being tried",
    Phase.FIRST_CALL: "in its first call",
    Phase.VISITED: "in its first visits",
    Phase.CORRECT: "being checked",
    Phase.TIMED: "being timed",
    Phase.TRACED: "being traced",
}
"""What a variant was at when something ended it."""


class MeasureSpec(msgspec.Struct, frozen=True, kw_only=True):
    """`device` is `cpu` or `cuda:N`; traces are written into `directory`; events go to descriptor `events_fd`.

    `ceilings` asks for the device's ceilings first, unless the environment's digest is among `ceilings_known`;
    `windows_known` are what windows held in earlier trials (ns, by the environment's digest), which is not measured
    again; `twins` asks for every variant to be timed twice, as if it were two. `silence_s` is the longest time without
    an event: the child then ends the process that hangs, whose variant it alone knows for certain.
    """

    workload: Workload
    variants: tuple[str, ...]
    plan: Plan
    device: str
    directory: str
    events_fd: int
    ceilings: bool = False
    ceilings_known: tuple[str, ...] = ()
    windows_known: dict[str, float] = {}
    twins: bool = False
    silence_s: float | None = None


class Started(msgspec.Struct, frozen=True, kw_only=True, tag="started"):
    """The child is up. Sent once per child, before any variant."""

    environment: Environment


class CeilingsMeasured(msgspec.Struct, frozen=True, kw_only=True, tag="ceilings"):
    """What the device can do at most. Sent once, before any variant is timed, where the spec asks for it."""

    ceilings: Ceilings


class Progress(msgspec.Struct, frozen=True, kw_only=True, tag="progress"):
    """A phase of a variant begins (`done` 0.0), goes on, or is over (`done` 1.0); `so_far` is for people."""

    variant: str
    phase: Phase
    done: float
    so_far: str | None = None


class Finished(msgspec.Struct, frozen=True, kw_only=True, tag="finished"):
    """A variant's run. From the child, `run` lacks what the trace tells (counts, kernels, health): `trace_file` is a
    name within the spec's directory, parsed after the device is free. `run.artefacts` lie there too, under their
    SHA-256."""

    run: Run
    trace_file: str | None = None


Event = Started | CeilingsMeasured | Progress | Finished
