"""What the GPU did, and was told to do, in one step or in all of a recording."""

from __future__ import annotations

import msgspec
import numpy as np

from profiles.trace.health import Unlinked, kernels_in
from profiles.trace.intervals import span_ns
from profiles.trace.launches import CallKind, Launches
from profiles.trace.model import CALL_KINDS, GPU_KINDS, Int64s, SliceKind, Trace
from profiles.trace.occupation import Occupations
from profiles.trace.steps import Step, count_calls, count_slices


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """Counts and times are None where they cannot be told, as of a step whose launches or slices are missing.

    `kernel_ns` is the sum of the kernels' durations, `busy_ns` the union of all GPU intervals, `communication_ns` that
    of the communication kernels, and `overlapped_ns` the part of it in which another kernel ran too: each per device,
    added over devices. `span_ns` reaches from the first GPU slice's start to the last one's end.
    """

    kernels: int | None
    copies: int | None
    fills: int | None
    launches: int | None
    graph_launches: int | None
    kernel_ns: int | None = None
    busy_ns: int | None = None
    span_ns: int | None = None
    communication_ns: int | None = None
    overlapped_ns: int | None = None


class StepWork(msgspec.Struct, frozen=True, kw_only=True):
    """`host_ns` is how long the step's annotation lasts."""

    name: str
    host_ns: int
    work: Work


class Works:
    """Of one trace."""

    def __init__(self, trace: Trace, launches: Launches, unlinked: Unlinked) -> None:
        self._trace, self._launches, self._unlinked = trace, launches, unlinked
        self._occupations = Occupations(trace)

    def of_step(self, step: Step) -> StepWork:
        kernels = kernels_in(step, self._trace, self._launches, self._unlinked)
        told = kernels is not None
        work = Work(
            kernels=kernels,
            copies=count_slices(step, self._trace, SliceKind.MEMCPY)
            if told and self._tells(SliceKind.MEMCPY)
            else None,
            fills=count_slices(step, self._trace, SliceKind.MEMSET) if told and self._tells(SliceKind.MEMSET) else None,
            launches=count_calls(step, self._launches, CallKind.KERNEL) if self._tells(*CALL_KINDS) else None,
            graph_launches=count_calls(step, self._launches, CallKind.GRAPH) if self._tells(*CALL_KINDS) else None,
        )
        return StepWork(
            name=step.name,
            host_ns=step.end_ns - step.start_ns,
            work=self._with_times(work, step.slices) if told else work,
        )

    def of_all(self) -> Work:
        slices = self._trace.slices
        gpu = slices.of(*GPU_KINDS)
        work = Work(
            kernels=len(slices.of(SliceKind.KERNEL)) if self._tells(SliceKind.KERNEL) else None,
            copies=len(slices.of(SliceKind.MEMCPY)) if self._tells(SliceKind.MEMCPY) else None,
            fills=len(slices.of(SliceKind.MEMSET)) if self._tells(SliceKind.MEMSET) else None,
            launches=len(self._launches.of(CallKind.KERNEL)) if self._tells(*CALL_KINDS) else None,
            graph_launches=len(self._launches.of(CallKind.GRAPH)) if self._tells(*CALL_KINDS) else None,
        )
        return self._with_times(work, gpu) if self._tells(SliceKind.KERNEL) else work

    def _tells(self, *kinds: SliceKind) -> bool:
        """Whether the file has a place for records of one of the kinds."""
        return not self._trace.absent.issuperset(kinds)

    def _with_times(self, work: Work, rows: Int64s) -> Work:
        slices = self._trace.slices
        rows = np.sort(rows)
        kernels = rows[slices.kind[rows] == SliceKind.KERNEL]
        occupation = self._occupations.of(rows)
        return msgspec.structs.replace(
            work,
            kernel_ns=int(slices.duration_ns[kernels].sum()),
            busy_ns=occupation.busy_ns,
            span_ns=span_ns(slices, rows),
            communication_ns=occupation.communication_ns,
            overlapped_ns=occupation.overlapped_ns,
        )
