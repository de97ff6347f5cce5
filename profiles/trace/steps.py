"""The steps that a recording marks, and the slices that belong to each: those launched within it, on any thread."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from profiles.trace.errors import TraceTooLarge
from profiles.trace.launches import CallKind, Launches
from profiles.trace.model import ABSENT, GPU_KINDS, Int64s, SliceKind, Trace

_FORWARD = re.compile(r"fusescope\.forward#\d+\Z")
_PROFILER_STEP = re.compile(r"ProfilerStep#\d+\Z")
_MOST_OPEN = 16  # steps at one time; honest ones follow each other


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
    starts, ends = (np.array([extent[at] for extent in extents], np.int64) for at in (1, 2))
    _check(starts, ends)
    found = _by_launch(trace, launches)
    bounds = np.stack([starts, ends], axis=1)
    launched, called = (np.searchsorted(times, bounds).tolist() for times in (found.launched_ns, found.called_ns))
    return tuple(_step(*step, found) for step in zip(extents, launched, called, strict=True))


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
    began; and how many of those before each started nothing although they should have."""

    rows: Int64s
    launched_ns: Int64s
    called_ns: Int64s
    barren_before: Int64s


def _annotated(trace: Trace, pattern: re.Pattern[str]) -> list[_Extent]:
    """Name and extent of each step; one that several threads mark counts once, from the longest mark."""
    slices = trace.slices
    rows = slices.of(SliceKind.ANNOTATION)
    matches = np.array([bool(pattern.match(name)) for name in trace.names], np.bool_)
    rows = rows[matches[slices.name[rows]]]
    rows = rows[np.lexsort((-slices.duration_ns[rows], slices.name[rows]))]
    _, longest = np.unique(slices.name[rows], return_index=True)
    rows = np.sort(rows[longest])
    columns = (slices.name[rows].tolist(), slices.start_ns[rows].tolist(), slices.ends_ns(rows).tolist())
    return [_Extent(trace.names[name], start_ns, end_ns) for name, start_ns, end_ns in zip(*columns, strict=True)]


def _check(starts: Int64s, ends: Int64s) -> None:
    """Steps within steps have the same slices over and over: of many of them no memory would be enough."""
    open_ = np.searchsorted(starts, starts, "right") - np.searchsorted(np.sort(ends), starts, "right")
    if open_.max(initial=0) > _MOST_OPEN:
        raise TraceTooLarge(f"{int(open_.max())} steps within each other; the limit is {_MOST_OPEN}")


def _by_launch(trace: Trace, launches: Launches) -> _ByLaunch:
    starts = trace.slices.start_ns
    gpu = trace.slices.of(*GPU_KINDS)
    gpu = gpu[launches.call_of[gpu] != ABSENT]
    launched_ns = starts[launches.call_of[gpu]]
    order = np.argsort(launched_ns, kind="stable")
    barren = np.zeros(len(launches.calls) + 1, np.int64)
    barren[launches.barren + 1] = 1
    return _ByLaunch(gpu[order], launched_ns[order], starts[launches.calls], np.cumsum(barren))


def _step(extent: _Extent, launched: Sequence[int], called: Sequence[int], found: _ByLaunch) -> Step:
    """Between these bounds in `found` lie its slices, and its calls."""
    return Step(
        *extent,
        slices=np.sort(found.rows[slice(*launched)]),
        calls=np.arange(*called),
        barren=int(found.barren_before[called[1]] - found.barren_before[called[0]]),
    )
