"""The device's busy time of a call from the records of its driver (CUPTI): for calls that no gate can hold.

A call of a thousand launches overruns the driver's queue. Its kernels, copies and fills are recorded instead, and the
union of their intervals taken, so that waits for the host between them do not count. The recorder slows the host, not
the device. Torch's in-process records are a private door, and stay in here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch._C._autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

from profiles.measure.device import synchronise
from profiles.measure.gate import Gate

METHOD = "CUPTI busy time"
MARK = "spin_kernel"  # the gate's kernel: nothing that is measured has one
MARK_NS = 2_000.0
NO_WORK = ("Sync", "Stream Wait Event")  # records of waiting, which newer recorders keep on the device's rows


class RecordsError(Exception):
    """The records do not tell the calls apart, or are not there."""


class Slice(NamedTuple):
    name: str
    start_ns: int
    end_ns: int


def busy_times(
    call: Callable[[], object], prepare: Callable[[], None], *, calls: int, device: torch.device, gate: Gate
) -> list[float]:
    """ns that the device worked on each of `calls` calls; RecordsError where that cannot be told.

    Each call starts on an idle device, between two marks: what prepares it lies outside them.
    """
    profiler = profile(activities=[ProfilerActivity.CUDA])
    with profiler:
        for _ in range(calls):
            prepare()
            gate.hold(MARK_NS)
            synchronise(device)
            output = call()
            synchronise(device)
            del output
            gate.hold(MARK_NS)
            synchronise(device)
    times = between_marks(_slices(profiler))
    if len(times) != calls:
        raise RecordsError(f"{len(times)} of {calls} recorded calls are whole")
    return times


def between_marks(slices: Iterable[Slice]) -> list[float]:
    """The busy time of each stretch between one mark and the next, every other one: those in between only prepare."""
    ordered = sorted(slices, key=lambda s: s.start_ns)
    marks = [number for number, s in enumerate(ordered) if MARK in s.name]
    if len(marks) % 2:
        raise RecordsError(f"{len(marks)} marks were recorded, an odd number")
    stretches = [ordered[begin + 1 : end] for begin, end in list(pairwise(marks))[::2]]
    if not all(stretches):
        raise RecordsError("a recorded call has no work on the device")
    return [float(busy_ns(stretch)) for stretch in stretches]


def busy_ns(slices: Sequence[Slice]) -> int:
    """The union of the intervals; `slices` are in the order of their starts."""
    total, reached = 0, slices[0].start_ns
    for piece in slices:
        total += max(0, piece.end_ns - max(reached, piece.start_ns))
        reached = max(reached, piece.end_ns)
    return total


def _slices(profiler: Any) -> list[Slice]:
    results = getattr(getattr(profiler, "profiler", None), "kineto_results", None)
    if results is None:
        raise RecordsError("this torch keeps no records in the process")
    try:
        return [
            Slice(event.name(), event.start_ns(), event.start_ns() + event.duration_ns())
            for event in results.events()
            if event.device_type() == DeviceType.CUDA and not event.name().endswith(NO_WORK)
        ]
    except AttributeError as error:
        raise RecordsError(f"this torch's records are of another kind: {error}") from error
