"""What ran within a range of a timeline: kernels by name, each device's busy time and its gaps."""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from app.timeline.doubts import Doubt
from app.timeline.shown import Rows, Shown
from profiles.trace.timeline import TrackKind

Int64s = npt.NDArray[np.int64]


class KernelInRange(msgspec.Struct, frozen=True, kw_only=True):
    """`share` is of the time of all kernels listed, between 0 and 1."""

    name: str
    full_name: str
    role: str
    calls: int
    total_ns: int
    share: float


class DeviceInRange(msgspec.Struct, frozen=True, kw_only=True):
    """`busy_ns` is the union over its streams; a gap lies between two slices. The host is device None."""

    device: int | None
    busy_ns: int
    gaps: int
    gap_ns: int
    longest_gap_ns: int


class RangeSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Slices that lie partly within count as calls; of their time, what lies within. `doubts` are the trace's."""

    from_ns: int
    to_ns: int
    slices: int
    kernels: tuple[KernelInRange, ...]
    devices: tuple[DeviceInRange, ...]
    doubts: tuple[Doubt, ...] = ()


def summarise(shown: Shown, from_ns: int, to_ns: int, *, doubts: tuple[Doubt, ...] = ()) -> RangeSummary:
    """Of the device's slices (on a CPU: of the outermost operators) that touch from_ns ≤ t < to_ns; longest first."""
    rows = inside(shown, from_ns, to_ns, rows=shown.work())
    start = np.maximum(shown.start_ns[rows], from_ns)
    end = np.minimum(shown.start_ns[rows] + shown.duration_ns[rows], to_ns)
    return RangeSummary(
        from_ns=from_ns,
        to_ns=to_ns,
        slices=len(rows),
        kernels=_kernels(shown, shown.name[rows], end - start),
        devices=_devices(shown, rows, start, end),
        doubts=doubts,
    )


def inside(shown: Shown, from_ns: int, to_ns: int, *, rows: Rows | None = None) -> Rows:
    """The rows that touch the range, one without length where it begins in it."""
    rows = np.arange(len(shown.start_ns)) if rows is None else rows
    start = shown.start_ns[rows]
    end = np.maximum(start + shown.duration_ns[rows], start + 1)
    return np.asarray(rows[(start < to_ns) & (end > from_ns)], dtype=np.intp)


def _kernels(shown: Shown, name: npt.NDArray[np.uint32], time: Int64s) -> tuple[KernelInRange, ...]:
    drawn = shown.timeline
    used, place, calls = np.unique(name, return_inverse=True, return_counts=True)
    totals = np.zeros(len(used), np.int64)
    np.add.at(totals, place, time)
    everything = max(int(totals.sum()), 1)
    return tuple(
        KernelInRange(
            name=drawn.short_names[used[i]],
            full_name=drawn.names[used[i]],
            role=str(drawn.roles[used[i]]),
            calls=int(calls[i]),
            total_ns=int(totals[i]),
            share=int(totals[i]) / everything,
        )
        for i in np.argsort(-totals, kind="stable")
    )


def _devices(shown: Shown, rows: Rows, start: Int64s, end: Int64s) -> tuple[DeviceInRange, ...]:
    """Operators of several threads count as one host."""
    kept = [track for track in shown.tracks if track.kind in (TrackKind.STREAM, TrackKind.OPS)]
    devices = dict.fromkeys(track.device for track in kept if track.kind in shown.main)
    of_track = [track.device for track in shown.tracks]
    found = []
    for device in devices:
        own = np.array([one == device for one in of_track], dtype=bool)[shown.track[rows]]
        if own.any():
            found.append(_device(device, start[own], end[own]))
    return tuple(found)


def _device(device: int | None, start: Int64s, end: Int64s) -> DeviceInRange:
    order = np.argsort(start, kind="stable")
    start, reached = start[order], np.maximum.accumulate(end[order])
    gaps = np.maximum(start[1:] - reached[:-1], 0)
    return DeviceInRange(
        device=device,
        busy_ns=int(reached[-1] - start[0] - gaps.sum()),
        gaps=int((gaps > 0).sum()),
        gap_ns=int(gaps.sum()),
        longest_gap_ns=int(gaps.max(initial=0)),
    )
