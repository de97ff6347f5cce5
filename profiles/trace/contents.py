"""What a trace holds for comparing it with others: its kernels by name, its steps, and the order of launches.

Everything is by launch, as `profiles.trace.steps` has it; what cannot be told of a step is None or empty, never 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from profiles.trace.callers import open_operators
from profiles.trace.causes import Causes, find_causes
from profiles.trace.health import find_unlinked
from profiles.trace.launches import Launches, find_launches
from profiles.trace.model import Int64s, SliceKind, Trace
from profiles.trace.ranks import Rank
from profiles.trace.recorded_rank import recorded_rank
from profiles.trace.seen_kernels import SeenKernel, seen_kernels
from profiles.trace.sequence import Caller, sequenced
from profiles.trace.steps import Step, find_steps
from profiles.trace.work import StepWork, Work, Works

__all__ = ["Caller", "SeenKernel", "StepWork", "TraceContents", "Work", "contents"]

MOST_STEPS = 256
MOST_PLACES = 20_000
_MOST_CELLS = 1_000_000


class TraceContents(msgspec.Struct, frozen=True, kw_only=True):
    """`kernels` come the longest in all first. `steps` are the first 256 of `step_count` (fewer where more
    than 4,000 kernels differ by name).

    The sequence is of the step of middle length on the device (`typical`, its name), by launch; of the whole recording
    where no steps are told. It has at most 20,000 places: `cut` says how many more there were. `sequence` is the place
    in `kernels`, and beside it stand `durations_ns`, `caller_of` (the place in `callers`, -1 for none) and
    `instance_of` (the place in `instances`, -1 for none: kernels with an equal one were launched by one call of that
    operator, the outermost around them with at most 8 kernels). `api` is `cuda` or `hip`, by the launching calls.
    """

    kernels: tuple[SeenKernel, ...]
    whole: Work
    steps: tuple[StepWork, ...] = ()
    step_count: int = 0
    typical: str | None = None
    sequence: tuple[int, ...] = ()
    durations_ns: tuple[int, ...] = ()
    callers: tuple[Caller, ...] = ()
    caller_of: tuple[int, ...] = ()
    instances: tuple[str, ...] = ()
    instance_of: tuple[int, ...] = ()
    cut: int = 0
    rank: Rank | None = None
    api: str | None = None


def contents(trace: Trace, causes: Causes | None = None) -> TraceContents:
    """`causes` are the trace's, where they are found already."""
    launches = find_launches(trace)
    causes = causes or find_causes(trace, launches)
    steps = find_steps(trace, launches)
    unlinked = find_unlinked(trace, launches)
    works = Works(trace, launches, unlinked)
    every = trace.slices.of(SliceKind.KERNEL)
    told_steps = steps[: _told_steps(trace, every)]
    step_works = tuple(works.of_step(step) for step in told_steps)
    told = [work.work.kernels is not None for work in step_works]
    typical = _typical(told_steps, step_works)
    opened = open_operators(trace, launches.call_of[every])
    slices_of_steps = [step.slices for step in told_steps] if all(told) else []
    kernels = seen_kernels(trace, launches, unlinked, causes=causes.by_name(trace, every), steps=slices_of_steps)
    rows = _kernels(trace, typical.slices) if typical else every
    sequence = sequenced(trace, launches, rows, opened=opened, causes=causes, most=MOST_PLACES)
    place = {kernel.name: at for at, kernel in enumerate(kernels)}
    names = [trace.names[number] for number in trace.slices.name[sequence.rows].tolist()]
    return TraceContents(
        kernels=kernels,
        whole=works.of_all(),
        steps=step_works,
        step_count=len(steps),
        typical=typical.name if typical else None,
        sequence=tuple(place[name] for name in names),
        durations_ns=tuple(trace.slices.duration_ns[sequence.rows].tolist()),
        callers=sequence.callers,
        caller_of=tuple(sequence.caller_of.tolist()),
        instances=sequence.instances,
        instance_of=tuple(sequence.instance_of.tolist()),
        cut=len(rows) - len(sequence.rows),
        rank=recorded_rank(trace),
        api=_api(trace, launches),
    )


def _told_steps(trace: Trace, kernels: Int64s) -> int:
    """Fewer of a recording with very many kernels by name, since each has a number for each step."""
    names = len(np.unique(trace.slices.name[kernels]))
    return max(1, min(MOST_STEPS, _MOST_CELLS // max(names, 1)))


def _kernels(trace: Trace, rows: Int64s) -> Int64s:
    kernels: Int64s = rows[trace.slices.kind[rows] == SliceKind.KERNEL]
    return kernels


def _typical(steps: Sequence[Step], works: Sequence[StepWork]) -> Step | None:
    """The one of middle length on the device, of two the shorter, the first of equal ones. Steps that launched nothing
    (a mark after the last one) are passed over. None where no step that launched something is told."""
    told = [(work.work.span_ns, at) for at, work in enumerate(works) if work.work.kernels is not None]
    spans = sorted((span, at) for span, at in told if span is not None)
    return steps[spans[(len(spans) - 1) // 2][1]] if spans else None


def _api(trace: Trace, launches: Launches) -> str | None:
    """None where nothing was launched, or by calls of both."""
    names = {trace.names[number] for number in np.unique(trace.slices.name[launches.calls]).tolist()}
    apis = {"hip" if name.startswith("hip") else "cuda" for name in names if name.startswith(("hip", "cu"))}
    return apis.pop() if len(apis) == 1 else None
