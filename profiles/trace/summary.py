"""What `fusescope trace FILE --json` prints: the facts of a whole recording."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import numpy as np

from profiles.recorded import Attribution, GapCause, Idle
from profiles.results import Finding
from profiles.trace.attribution import Joined, attribution, joined
from profiles.trace.gaps import GapJudge, find_gaps
from profiles.trace.health import Unlinked, find_overlap, find_problems, find_unexplained, find_unlinked, kernels_in
from profiles.trace.intervals import Overlap, span_ns, stream_overlap, union_ns
from profiles.trace.kernel_table import KernelRow
from profiles.trace.launches import CallKind, Launches, find_launches, kernels_of_graphs
from profiles.trace.model import ABSENT, CALL_KINDS, GPU_KINDS, Device, Int64s, SliceKind, Trace
from profiles.trace.ranks import Rank
from profiles.trace.recorded_rank import recorded_rank
from profiles.trace.steps import Step, find_steps


class DeviceSummary(msgspec.Struct, frozen=True, kw_only=True):
    """`idle_ns` is `gpu_span_ns` less `gpu_busy_ns`, and the sum of the gaps of `idle`. `stream_overlap_ns` is how much
    longer the slices of each stream are than their union: what a sum counts twice."""

    index: int
    name: str | None
    kernel_busy_ns: int | None
    gpu_busy_ns: int
    gpu_span_ns: int | None = None
    idle_ns: int | None = None
    stream_overlap_ns: int = 0
    idle: tuple[Idle, ...] = ()


class StepSummary(msgspec.Struct, frozen=True, kw_only=True):
    """`kernels` were launched inside the step's annotation; None where that cannot be told (a finding says why).
    `attribution` is of the kernels that were found to be the step's, told or not."""

    name: str
    kernels: int | None
    attribution: Attribution = Attribution()


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """How the slices behind each count were joined to their launches."""

    kernels: Attribution = Attribution()
    memcpy: Attribution = Attribution()
    memset: Attribution = Attribution()


class TraceSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of records are facts and may be 0; what cannot be told is None, as where a file has no place for records
    of a kind.

    Busy is the union of intervals per device, added over devices; the span reaches from the first start to the last
    end of GPU activity. Timestamps are always read as `unit`. `idle` adds the devices' gaps up by cause. `doubtful`
    names the fields that a finding of `health` makes doubtful, those of lists as `steps.kernels`. `kernel_table` is
    None where it was not asked for, `rank` where the file tells of none.
    """

    doubtful: tuple[str, ...] = ()
    kernels: int | None
    memcpy: int | None
    memset: int | None
    launches: int | None
    graph_launches: int | None
    linked_kernels: int | None
    kernel_sum_ns: int | None
    kernel_busy_ns: int | None
    gpu_busy_ns: int | None
    gpu_span_ns: int | None
    distinct_kernel_names: int | None
    kernels_from_graph_launches: int | None
    devices: tuple[DeviceSummary, ...]
    steps: tuple[StepSummary, ...]
    launched_before_window: int | None
    health: tuple[Finding, ...]
    format: str
    unit: str
    records: int
    coverage: Coverage = Coverage()
    stream_overlap_ns: int = 0
    idle: tuple[Idle, ...] = ()
    kernel_table: tuple[KernelRow, ...] | None = None
    rank: Rank | None = None


def summarise(trace: Trace) -> TraceSummary:
    slices = trace.slices
    launches = find_launches(trace)
    steps = find_steps(trace, launches)
    unlinked = find_unlinked(trace, launches)
    kernels, gpu = slices.of(SliceKind.KERNEL), slices.of(*GPU_KINDS)
    judge = GapJudge(trace, launches, steps)
    by_device = _rows_by_device(trace)
    overlaps = [stream_overlap(slices, rows) for rows in by_device]
    devices = tuple(
        _device(trace, device, rows, judge, overlap)
        for device, rows, overlap in zip(trace.devices, by_device, overlaps, strict=True)
    )
    idle = _added_up(devices)
    ways = joined(trace, launches, unlinked)
    health = (
        *find_problems(trace, launches, steps, unlinked),
        *find_unexplained(idle),
        *find_overlap(overlaps),
    )
    return TraceSummary(
        doubtful=_doubtful(health),
        kernels=_told(trace, len(kernels), SliceKind.KERNEL),
        memcpy=_told(trace, len(slices.of(SliceKind.MEMCPY)), SliceKind.MEMCPY),
        memset=_told(trace, len(slices.of(SliceKind.MEMSET)), SliceKind.MEMSET),
        launches=_told(trace, len(launches.of(CallKind.KERNEL)), *CALL_KINDS),
        graph_launches=_told(trace, len(launches.of(CallKind.GRAPH)), *CALL_KINDS),
        linked_kernels=_told(trace, int((launches.call_of[kernels] != ABSENT).sum()), SliceKind.KERNEL),
        kernel_sum_ns=_told(trace, int(slices.duration_ns[kernels].sum()), SliceKind.KERNEL),
        kernel_busy_ns=_told(trace, sum(device.kernel_busy_ns or 0 for device in devices), SliceKind.KERNEL),
        gpu_busy_ns=_told(trace, sum(device.gpu_busy_ns for device in devices), *GPU_KINDS),
        gpu_span_ns=span_ns(slices, gpu),
        distinct_kernel_names=_told(trace, len(np.unique(slices.name[kernels])), SliceKind.KERNEL),
        kernels_from_graph_launches=_told(trace, len(kernels_of_graphs(trace, launches)), SliceKind.KERNEL),
        devices=devices,
        steps=tuple(_step(step, trace, launches, unlinked, ways) for step in steps),
        launched_before_window=_before_window(trace, unlinked),
        health=health,
        format=trace.format,
        unit=trace.unit,
        records=trace.records,
        coverage=Coverage(
            kernels=attribution(ways, kernels),
            memcpy=attribution(ways, slices.of(SliceKind.MEMCPY)),
            memset=attribution(ways, slices.of(SliceKind.MEMSET)),
        ),
        stream_overlap_ns=sum(device.stream_overlap_ns for device in devices),
        idle=idle,
        rank=recorded_rank(trace),
    )


def _told(trace: Trace, number: int, *kinds: SliceKind) -> int | None:
    """None where the file tells nothing of any of the kinds."""
    return None if trace.absent.issuperset(kinds) else number


def _step(step: Step, trace: Trace, launches: Launches, unlinked: Unlinked, ways: Joined) -> StepSummary:
    kernels = step.slices[trace.slices.kind[step.slices] == SliceKind.KERNEL]
    return StepSummary(
        name=step.name,
        kernels=kernels_in(step, trace, launches, unlinked),
        attribution=attribution(ways, kernels),
    )


def _doubtful(health: tuple[Finding, ...]) -> tuple[str, ...]:
    """Findings also name numbers of a run that a whole recording does not have."""
    named = {name for finding in health for name in finding.doubtful}
    return tuple(sorted(name for name in named if name.split(".")[0] in TraceSummary.__struct_fields__))


def _added_up(devices: tuple[DeviceSummary, ...]) -> tuple[Idle, ...]:
    by_cause: dict[GapCause, list[Idle]] = {}
    for idle in (idle for device in devices for idle in device.idle):
        by_cause.setdefault(idle.cause, []).append(idle)
    added = (
        Idle(
            cause=cause,
            count=sum(idle.count for idle in found),
            total_ns=sum(idle.total_ns for idle in found),
            longest_ns=max(idle.longest_ns for idle in found),
        )
        for cause, found in by_cause.items()
    )
    return tuple(sorted(added, key=lambda idle: -idle.total_ns))


def _rows_by_device(trace: Trace) -> list[Int64s]:
    """The GPU slices of each of the trace's devices, in order."""
    gpu = trace.slices.of(*GPU_KINDS)
    places = {device.index: place for place, device in enumerate(trace.devices)}
    of_track = [ABSENT if track.device is None else places.get(track.device, ABSENT) for track in trace.tracks]
    of_row = np.array(of_track, np.int64)[trace.slices.track[gpu]]
    by_device = np.argsort(of_row, kind="stable")
    edges = np.searchsorted(of_row[by_device], np.arange(len(places) + 1))
    return [gpu[by_device[start:end]] for start, end in pairwise(edges.tolist())]


def _device(trace: Trace, device: Device, gpu: Int64s, judge: GapJudge, overlap: Overlap) -> DeviceSummary:
    slices = trace.slices
    kernels = gpu[slices.kind[gpu] == SliceKind.KERNEL]
    gaps = find_gaps(trace, gpu)
    return DeviceSummary(
        index=device.index,
        name=device.name,
        kernel_busy_ns=_told(trace, union_ns(slices.start_ns[kernels], slices.ends_ns(kernels)), SliceKind.KERNEL),
        gpu_busy_ns=union_ns(slices.start_ns[gpu], slices.ends_ns(gpu)),
        gpu_span_ns=span_ns(slices, gpu),
        idle_ns=int(gaps.duration_ns.sum()) if len(gpu) else None,
        stream_overlap_ns=overlap.time_ns,
        idle=judge.idle(gaps),
    )


def _before_window(trace: Trace, unlinked: Unlinked) -> int | None:
    """Kernels; None where the file holds no calls to compare with."""
    kinds = trace.slices.kind
    lost = kinds[unlinked.lost] == SliceKind.KERNEL
    if lost.any() and not len(trace.slices.of(*CALL_KINDS)):
        return None
    return int((kinds[unlinked.earlier] == SliceKind.KERNEL).sum())
