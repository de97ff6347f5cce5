"""What `fusescope trace FILE --json` prints: the facts of a whole recording."""

from __future__ import annotations

import msgspec
import numpy as np

from profiles.results import Finding
from profiles.trace.health import Unlinked, find_problems, find_unlinked, kernels_in
from profiles.trace.intervals import union_ns
from profiles.trace.launches import CallKind, find_launches, kernels_of_graphs
from profiles.trace.model import ABSENT, CALL_KINDS, GPU_KINDS, Device, SliceKind, Trace
from profiles.trace.steps import find_steps


class DeviceSummary(msgspec.Struct, frozen=True, kw_only=True):
    index: int
    name: str | None
    kernel_busy_ns: int
    gpu_busy_ns: int


class StepSummary(msgspec.Struct, frozen=True, kw_only=True):
    """`kernels` were launched inside the step's annotation; None where that cannot be told (a finding says why)."""

    name: str
    kernels: int | None


class TraceSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of records are facts and may be 0; what cannot be told is None.

    Busy is the union of intervals per device, added over devices; the span reaches from the first start to the last
    end of GPU activity. Timestamps are always read as `unit`.
    """

    kernels: int
    memcpy: int
    memset: int
    launches: int
    graph_launches: int
    linked_kernels: int
    kernel_sum_ns: int
    kernel_busy_ns: int
    gpu_busy_ns: int
    gpu_span_ns: int | None
    distinct_kernel_names: int
    kernels_from_graph_launches: int
    devices: tuple[DeviceSummary, ...]
    steps: tuple[StepSummary, ...]
    launched_before_window: int | None
    health: tuple[Finding, ...]
    format: str
    unit: str
    records: int


def summarise(trace: Trace) -> TraceSummary:
    slices = trace.slices
    launches = find_launches(trace)
    steps = find_steps(trace, launches)
    unlinked = find_unlinked(trace, launches)
    kernels, gpu = slices.of(SliceKind.KERNEL), slices.of(*GPU_KINDS)
    devices = tuple(_device(trace, device) for device in trace.devices)
    return TraceSummary(
        kernels=len(kernels),
        memcpy=len(slices.of(SliceKind.MEMCPY)),
        memset=len(slices.of(SliceKind.MEMSET)),
        launches=len(launches.of(CallKind.KERNEL)),
        graph_launches=len(launches.of(CallKind.GRAPH)),
        linked_kernels=int((launches.call_of[kernels] != ABSENT).sum()),
        kernel_sum_ns=int(slices.duration_ns[kernels].sum()),
        kernel_busy_ns=sum(device.kernel_busy_ns for device in devices),
        gpu_busy_ns=sum(device.gpu_busy_ns for device in devices),
        gpu_span_ns=int(slices.end_ns[gpu].max() - slices.start_ns[gpu[0]]) if len(gpu) else None,
        distinct_kernel_names=len(np.unique(slices.name[kernels])),
        kernels_from_graph_launches=len(kernels_of_graphs(trace, launches)),
        devices=devices,
        steps=tuple(StepSummary(name=step.name, kernels=kernels_in(step, trace, launches, unlinked)) for step in steps),
        launched_before_window=_before_window(trace, unlinked),
        health=find_problems(trace, launches, steps, unlinked),
        format=trace.format,
        unit="us",
        records=trace.records,
    )


def _device(trace: Trace, device: Device) -> DeviceSummary:
    slices = trace.slices
    on_device = np.array([track.device == device.index for track in trace.tracks], np.bool_)[slices.track]
    gpu = np.flatnonzero(on_device & np.isin(slices.kind, GPU_KINDS))
    kernels = gpu[slices.kind[gpu] == SliceKind.KERNEL]
    return DeviceSummary(
        index=device.index,
        name=device.name,
        kernel_busy_ns=union_ns(slices.start_ns[kernels], slices.end_ns[kernels]),
        gpu_busy_ns=union_ns(slices.start_ns[gpu], slices.end_ns[gpu]),
    )


def _before_window(trace: Trace, unlinked: Unlinked) -> int | None:
    """Kernels; None where the file holds no calls to compare with."""
    kinds = trace.slices.kind
    lost = kinds[unlinked.lost] == SliceKind.KERNEL
    if lost.any() and not len(trace.slices.of(*CALL_KINDS)):
        return None
    return int((kinds[unlinked.earlier] == SliceKind.KERNEL).sum())
