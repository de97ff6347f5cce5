"""The steps that a recording marks, and the slices that belong to each: those launched within it, on any thread."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from profiles.trace.launches import CallKind, Launches
from profiles.trace.model import ABSENT, GPU_KINDS, Int64s, SliceKind, Trace

_FORWARD = re.compile(r"fusescope\.forward#\d+$")
_PROFILER_STEP = re.compile(r"ProfilerStep#\d+$")


@dataclass(frozen=True, slots=True)
class Step:
    """A CPU annotation. `slices` are the GPU slices launched within it, `calls` the counted launching calls (places
    in `Launches.calls`); `barren` of those started nothing although they should have."""

    name: str
    start_ns: int
    end_ns: int
    slices: Int64s
    calls: Int64s
    barren: int


def find_steps(trace: Trace, launches: Launches) -> tuple[Step, ...]:
    """Our own forward passes where the recording has them, else the profiler's steps, in order of time."""
    extents = _annotated(trace, _FORWARD) or _annotated(trace, _PROFILER_STEP)
    return tuple(_step(trace, launches, name, start, end) for name, start, end in extents)


def count_calls(step: Step, launches: Launches, kind: CallKind) -> int:
    return int((launches.kinds[step.calls] == kind).sum())


def count_slices(step: Step, trace: Trace, kind: SliceKind) -> int:
    return int((trace.slices.kind[step.slices] == kind).sum())


def _annotated(trace: Trace, pattern: re.Pattern[str]) -> list[tuple[str, int, int]]:
    """Name and extent of each step; one that several threads mark counts once, from the longest mark."""
    slices = trace.slices
    rows = slices.of(SliceKind.ANNOTATION)
    longest: dict[str, int] = {}
    for row in rows.tolist():
        name = trace.names[slices.name[row]]
        if pattern.match(name) and slices.duration_ns[row] > slices.duration_ns[longest.setdefault(name, row)]:
            longest[name] = row
    found = ((name, int(slices.start_ns[row]), int(slices.end_ns[row])) for name, row in longest.items())
    return sorted(found, key=lambda step: step[1])


def _step(trace: Trace, launches: Launches, name: str, start_ns: int, end_ns: int) -> Step:
    starts = trace.slices.start_ns
    gpu = trace.slices.of(*GPU_KINDS)
    gpu = gpu[launches.call_of[gpu] != ABSENT]
    launched_ns = starts[launches.call_of[gpu]]
    called_ns = starts[launches.calls]
    calls = np.flatnonzero((called_ns >= start_ns) & (called_ns < end_ns))
    return Step(
        name=name,
        start_ns=start_ns,
        end_ns=end_ns,
        slices=gpu[(launched_ns >= start_ns) & (launched_ns < end_ns)],
        calls=calls,
        barren=len(np.intersect1d(calls, launches.barren)),
    )
