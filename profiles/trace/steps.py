"""The steps that a recording marks, and the slices that belong to each: those launched within it, on any thread."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from profiles.trace.launches import CallKind, Launches
from profiles.trace.model import ABSENT, GPU_KINDS, Int64s, SliceKind, Trace

_FORWARD = re.compile(r"fusescope\.forward#\d+\Z")
_PROFILER_STEP = re.compile(r"ProfilerStep#\d+\Z")


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
    by_launch = _by_launch(trace, launches)
    return tuple(_step(extent, by_launch) for extent in extents)


def count_calls(step: Step, launches: Launches, kind: CallKind) -> int:
    return int((launches.kinds[step.calls] == kind).sum())


def count_slices(step: Step, trace: Trace, kind: SliceKind) -> int:
    return int((trace.slices.kind[step.slices] == kind).sum())


class _Extent(NamedTuple):
    name: str
    start_ns: int
    end_ns: int


class _ByLaunch(NamedTuple):
    """The GPU slices whose call was recorded, in order of launch, and when each was launched; when each counted call
    began; and the places in `Launches.calls` of those that started nothing although they should have."""

    rows: Int64s
    launched_ns: Int64s
    called_ns: Int64s
    barren: Int64s


def _annotated(trace: Trace, pattern: re.Pattern[str]) -> list[_Extent]:
    """Name and extent of each step; one that several threads mark counts once, from the longest mark."""
    slices = trace.slices
    rows = slices.of(SliceKind.ANNOTATION)
    longest: dict[str, int] = {}
    for row in rows.tolist():
        name = trace.names[slices.name[row]]
        if pattern.match(name) and slices.duration_ns[row] > slices.duration_ns[longest.setdefault(name, row)]:
            longest[name] = row
    ends = slices.end_ns
    found = (_Extent(name, int(slices.start_ns[row]), int(ends[row])) for name, row in longest.items())
    return sorted(found, key=lambda step: step.start_ns)


def _by_launch(trace: Trace, launches: Launches) -> _ByLaunch:
    starts = trace.slices.start_ns
    gpu = trace.slices.of(*GPU_KINDS)
    gpu = gpu[launches.call_of[gpu] != ABSENT]
    launched_ns = starts[launches.call_of[gpu]]
    order = np.argsort(launched_ns, kind="stable")
    return _ByLaunch(gpu[order], launched_ns[order], starts[launches.calls], launches.barren)


def _step(extent: _Extent, by_launch: _ByLaunch) -> Step:
    """By bisection: a recording may have thousands of steps."""
    bounds = (extent.start_ns, extent.end_ns)
    first, last = np.searchsorted(by_launch.called_ns, bounds).tolist()
    return Step(
        *extent,
        slices=np.sort(by_launch.rows[slice(*np.searchsorted(by_launch.launched_ns, bounds))]),
        calls=np.arange(first, last),
        barren=int(np.diff(np.searchsorted(by_launch.barren, (first, last)))[0]),
    )
