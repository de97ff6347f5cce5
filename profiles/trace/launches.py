"""Which call launched which slice: joined by correlation, never by time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

import numpy as np

from profiles.trace.model import ABSENT, CALL_KINDS, GPU_KINDS, Bools, Int64s, SliceKind, Trace
from profiles.trace.on_tracks import OnTracks


class CallKind(IntEnum):
    """What a call starts on the GPU. Each is counted apart: one graph launch starts many kernels."""

    OTHER = 0
    KERNEL = 1
    GRAPH = 2
    MEMCPY = 3
    MEMSET = 4


_PATTERNS = (
    (CallKind.GRAPH, re.compile(r"(cuda|cu|hip)GraphLaunch")),
    (CallKind.KERNEL, re.compile(r"(cuda|cu|hip)\w*Launch\w*Kernel|hipLaunchByPtr|cuLaunch(Grid|$)|ur\w*KernelLaunch")),
    (CallKind.MEMCPY, re.compile(r"(cuda|cu|hip)Memcpy")),
    (CallKind.MEMSET, re.compile(r"(cuda|cu|hip)Memset")),
)
_CAPTURE = re.compile(r"(cuda|cu|hip)StreamBeginCapture"), re.compile(r"(cuda|cu|hip)StreamEndCapture")


@dataclass(frozen=True, slots=True)
class Launches:
    """Rows are rows of the trace's slices.

    `call_of` has, for each row, the row of the call that started it, ABSENT where the file holds none (and for all
    that is no GPU slice). `calls` are the calls that start something, a runtime call and the driver call beneath it
    counted once; `kinds` says what each starts, `slices` how many GPU slices each started, and `captured` which ran
    while a graph was being captured, and so started nothing, `correlations` what joins them to their slices.
    `reused` counts calls whose correlation another call has as well: their slices cannot be told apart.
    """

    call_of: Int64s
    calls: Int64s
    kinds: Int64s
    slices: Int64s
    captured: Bools
    correlations: Int64s
    reused: int

    def of(self, kind: CallKind) -> Int64s:
        rows: Int64s = self.calls[self.kinds == kind]
        return rows

    @property
    def barren(self) -> Int64s:
        """Places in `calls` of kernel and graph launches that should have started slices and did not."""
        starts_kernels = (self.kinds == CallKind.KERNEL) | (self.kinds == CallKind.GRAPH)
        return np.flatnonzero(starts_kernels & (self.slices == 0) & ~self.captured)


@lru_cache(maxsize=1)  # of the trace at hand, whose summary, steps, contents and timeline all ask
def find_launches(trace: Trace) -> Launches:
    slices = trace.slices
    rows = slices.of(*CALL_KINDS)
    kind_of_name = np.array([_call_kind(name) for name in trace.names], np.int64)
    calls = rows[kind_of_name[slices.name[rows]] != CallKind.OTHER]
    calls = calls[~_driver_twins(trace, calls)]
    return Launches(
        call_of=_joined(trace, rows),
        calls=calls,
        kinds=kind_of_name[slices.name[calls]],
        slices=_started(trace, calls),
        captured=_while_capturing(trace, rows, calls),
        correlations=slices.correlation[calls],
        reused=len(calls) - len(np.unique(slices.correlation[calls])),
    )


def kernels_of_graphs(trace: Trace, launches: Launches) -> Int64s:
    """The kernels that graph launches started, those whose launch is not in the file by the node that they were."""
    slices = trace.slices
    kernels = slices.of(SliceKind.KERNEL)
    by_launch = np.isin(slices.correlation[kernels], slices.correlation[launches.of(CallKind.GRAPH)])
    by_launch &= launches.call_of[kernels] != ABSENT
    is_node = np.array([*(shape.graph_node is not None for shape in trace.shapes), False], np.bool_)  # ABSENT is last
    from_graphs: Int64s = kernels[by_launch | is_node[slices.shape[kernels]]]
    return from_graphs


def calls_named(trace: Trace, rows: Int64s, pattern: re.Pattern[str]) -> Int64s:
    """Those of the slices `rows` whose names begin as `pattern` says; each name is looked at once."""
    matches = np.array([bool(pattern.match(name)) for name in trace.names], np.bool_)
    named: Int64s = rows[matches[trace.slices.name[rows]]]
    return named


def _call_kind(name: str) -> CallKind:
    return next((kind for kind, pattern in _PATTERNS if pattern.match(name)), CallKind.OTHER)


def _driver_twins(trace: Trace, calls: Int64s) -> Bools:
    """Driver calls made beneath a runtime call of the same correlation."""
    kind, correlation = trace.slices.kind[calls], trace.slices.correlation[calls]
    runtime = correlation[(kind == SliceKind.RUNTIME) & (correlation != ABSENT)]
    twins: Bools = (kind == SliceKind.DRIVER) & np.isin(correlation, runtime)
    return twins


def _joined(trace: Trace, calls: Int64s) -> Int64s:
    """For each row, the first call with the correlation of a GPU slice: slices are ordered by start, so the outer."""
    slices = trace.slices
    call_of = np.full(len(slices), ABSENT, np.int64)
    gpu = slices.of(*GPU_KINDS)
    gpu = gpu[slices.correlation[gpu] != ABSENT]
    correlations, first = np.unique(slices.correlation[calls], return_index=True)
    if len(correlations) == 0 or len(gpu) == 0:
        return call_of
    at = np.minimum(np.searchsorted(correlations, slices.correlation[gpu]), len(correlations) - 1)
    found = correlations[at] == slices.correlation[gpu]
    call_of[gpu[found]] = calls[first[at[found]]]
    return call_of


def _started(trace: Trace, calls: Int64s) -> Int64s:
    """How many GPU slices have each call's correlation."""
    slices = trace.slices
    gpu = np.sort(slices.correlation[slices.of(*GPU_KINDS)])
    correlation = slices.correlation[calls]
    count = np.searchsorted(gpu, correlation, "right") - np.searchsorted(gpu, correlation, "left")
    return np.where(correlation == ABSENT, 0, count).astype(np.int64)


def _while_capturing(trace: Trace, rows: Int64s, calls: Int64s) -> Bools:
    """Calls on a thread between the begin and the end of a stream capture there; one without an end goes on for good.

    Of all captures that began by a call the latest ends last, at the first end after it: it alone decides.
    """
    slices = trace.slices
    begins, ends = (OnTracks(slices, calls_named(trace, rows, pattern)) for pattern in _CAPTURE)
    track, start_ns = slices.track[calls], slices.start_ns[calls]
    begin = begins.last_before(track, np.searchsorted(slices.start_ns, start_ns, "right"))
    end = ends.first_from(track, begin)
    captured: Bools = (begin != ABSENT) & ((end == ABSENT) | (start_ns <= slices.start_ns[end]))
    return captured
