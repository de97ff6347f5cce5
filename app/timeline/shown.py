"""What of a timeline is drawn: one forward pass or all of it, ordered by row, nesting and start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import msgspec
import numpy as np
import numpy.typing as npt

from app.timeline.levels import stream_levels
from profiles.results import Role
from profiles.trace.timeline import Step, Timeline, TimelineTrack, TrackKind

DEEPEST = 255
ORDER = (TrackKind.ANNOTATIONS, TrackKind.OPS, TrackKind.CALLS, TrackKind.LAUNCHES, TrackKind.STREAM)
LABELS = {
    TrackKind.ANNOTATIONS: "annotations",
    TrackKind.OPS: "operators",
    TrackKind.CALLS: "other calls",
    TrackKind.LAUNCHES: "host launches",
}
NESTED = (TrackKind.OPS, TrackKind.ANNOTATIONS, TrackKind.CALLS)

Rows = npt.NDArray[np.intp]


class Part(StrEnum):
    """`typical` is the forward pass of median length, and all where a timeline knows no passes."""

    TYPICAL = "typical"
    ALL = "all"


class Track(msgspec.Struct, frozen=True):
    """`depth` counts its levels of nesting; `device` is None for the host's rows."""

    name: str
    kind: str
    depth: int
    device: int | None


@dataclass(frozen=True, slots=True)
class Shown:
    """One entry per slice in each column, ordered by track, depth and start; times are the timeline's own.

    `depth` tells host's slices by how many enclose them, and a stream's by the level on which each can be seen.
    `launch` is a row of this, -1 where the launch is not shown; `zero_ns` is the start of the first slice on a device
    (on a CPU: of an operator), or of the recording where all of it is shown; `main` are the kinds of rows that hold the
    work itself, and `ends_ns` its first start and last end.
    """

    timeline: Timeline
    step: str | None
    zero_ns: int
    tracks: tuple[Track, ...]
    main: tuple[TrackKind, ...]
    ends_ns: tuple[int, int]
    track: npt.NDArray[np.uint16]
    depth: npt.NDArray[np.uint8]
    name: npt.NDArray[np.uint32]
    start_ns: npt.NDArray[np.int64]
    duration_ns: npt.NDArray[np.int64]
    launch: npt.NDArray[np.int32]
    stages: npt.NDArray[np.uint32]
    cause: npt.NDArray[np.uint32]

    def work(self) -> Rows:
        """The rows of the device's slices; on a CPU, of the outermost operators."""
        wanted = np.array([track.kind == self.main[0] for track in self.tracks], dtype=bool)
        outermost = (self.depth == 0) | (self.main[0] is TrackKind.STREAM)
        return np.flatnonzero(wanted[self.track] & outermost) if len(wanted) else np.empty(0, np.intp)


def show(drawn: Timeline, part: Part = Part.TYPICAL) -> Shown:
    step = _typical(drawn.steps) if part is Part.TYPICAL else None
    kinds = _Kinds(drawn)
    rows = _rows(drawn, kinds, step)
    track, order = _ordered(drawn, kinds, rows)
    depth = _depths(drawn, kinds, rows, track)
    if not kinds.on_device:
        kept = ~(kinds.is_unknown(drawn, rows) & (depth > 0))
        rows, track = rows[kept], track[kept]
        depth = _depths(drawn, kinds, rows, track)
    by_level = np.lexsort((depth, track))  # stable: starts stay in order
    rows, track, depth = rows[by_level], track[by_level], depth[by_level]
    used = _used(track)
    track = np.searchsorted(used, track)
    return Shown(
        timeline=drawn,
        step=None if step is None else step.name,
        zero_ns=_zero(drawn, kinds, rows, part),
        tracks=_tracks([drawn.tracks[order[i]] for i in used], track, depth),
        main=kinds.main,
        ends_ns=_ends(drawn, kinds, rows),
        track=track.astype(np.uint16),
        depth=depth,
        name=drawn.name[rows],
        start_ns=drawn.start_ns[rows],
        duration_ns=drawn.duration_ns[rows],
        launch=_launches(drawn, rows),
        stages=drawn.stages[rows],
        cause=drawn.cause[rows],
    )


class _Kinds:
    """The kind of each track, and which of them hold the work: the device's where there is one."""

    def __init__(self, drawn: Timeline) -> None:
        self.of_track = np.array([ORDER.index(track.kind) for track in drawn.tracks], dtype=np.int64)
        self.on_device = any(track.kind is TrackKind.STREAM for track in drawn.tracks)
        self.main = (TrackKind.STREAM, TrackKind.LAUNCHES) if self.on_device else (TrackKind.OPS,)

    def of(self, drawn: Timeline, rows: Rows, kinds: Sequence[TrackKind]) -> npt.NDArray[np.bool_]:
        if not len(self.of_track):
            return np.zeros(len(rows), dtype=bool)
        wanted = np.isin(self.of_track, [ORDER.index(kind) for kind in kinds])
        return np.asarray(wanted[drawn.track[rows]], dtype=bool)

    def is_unknown(self, drawn: Timeline, rows: Rows) -> npt.NDArray[np.bool_]:
        """On a CPU, views and allocations within a named operator are no work of their own and would only add rows."""
        unknown = np.array([role is Role.OTHER for role in drawn.roles], dtype=bool)
        return np.asarray(unknown[drawn.name[rows]] & self.of(drawn, rows, (TrackKind.OPS,)), dtype=bool)


def _typical(steps: tuple[Step, ...]) -> Step | None:
    ordered = sorted(steps, key=lambda step: step.end_ns - step.start_ns)
    return ordered[len(ordered) // 2] if ordered else None


def _rows(drawn: Timeline, kinds: _Kinds, step: Step | None) -> Rows:
    """Of a pass: the work that was launched and ran in it, and whatever else the host was at meanwhile."""
    every = np.arange(len(drawn.start_ns))
    if step is None:
        return every
    begun = np.where(drawn.launch >= 0, drawn.start_ns[drawn.launch], drawn.start_ns) if len(every) else every
    starts, ends = drawn.start_ns, drawn.start_ns + drawn.duration_ns
    within = (begun >= step.start_ns) & (begun <= step.end_ns)
    within &= (starts >= step.start_ns) & (starts <= step.end_ns)
    meanwhile = (starts <= step.end_ns) & (ends > step.start_ns)
    return np.flatnonzero(np.where(kinds.of(drawn, every, kinds.main), within, meanwhile))


def _ordered(drawn: Timeline, kinds: _Kinds, rows: Rows) -> tuple[npt.NDArray[np.int64], Rows]:
    """Each row's track in the order of drawing, causes above effects; and the stored track at each place."""
    order = np.argsort(kinds.of_track, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place[drawn.track[rows]], order


def _depths(drawn: Timeline, kinds: _Kinds, rows: Rows, track: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """How many slices of its own track enclose each; on streams, whose slices may overlap, its level.

    As many as have begun before it and not ended: a slice of no length counts as one of 1 ns, so that it encloses none.
    """
    depth = np.zeros(len(rows), dtype=np.uint8)
    for one in _used(track[kinds.of(drawn, rows, (TrackKind.STREAM,))]):
        own = np.flatnonzero(track == one)
        depth[own] = stream_levels(drawn.start_ns[rows[own]], drawn.start_ns[rows[own]] + drawn.duration_ns[rows[own]])
    nests = kinds.of(drawn, rows, NESTED)
    for one in _used(track[nests]):
        own = np.flatnonzero(track == one)
        starts = drawn.start_ns[rows[own]]
        ends = starts + np.maximum(drawn.duration_ns[rows[own]], 1)
        outer_first = np.lexsort((-ends, starts))
        ended = np.searchsorted(np.sort(ends), starts[outer_first], side="right")
        depth[own[outer_first]] = np.clip(np.arange(len(own)) - ended, 0, DEEPEST)
    return depth


def _used(track: npt.NDArray[np.int64]) -> Rows:
    return np.flatnonzero(np.bincount(track))


def _zero(drawn: Timeline, kinds: _Kinds, rows: Rows, part: Part) -> int:
    if part is Part.ALL or not len(rows):
        return 0
    work = rows[kinds.of(drawn, rows, kinds.main[:1])]
    return int(drawn.start_ns[work if len(work) else rows].min())


def _ends(drawn: Timeline, kinds: _Kinds, rows: Rows) -> tuple[int, int]:
    work = rows[kinds.of(drawn, rows, kinds.main)]
    rows = work if len(work) else rows
    if not len(rows):
        return 0, 1
    return int(drawn.start_ns[rows].min()), int((drawn.start_ns[rows] + drawn.duration_ns[rows]).max())


def _tracks(
    tracks: Sequence[TimelineTrack], track: npt.NDArray[np.intp], depth: npt.NDArray[np.uint8]
) -> tuple[Track, ...]:
    """`stream 7`, `host launches`, `operators`: the process and thread only where two rows would read the same."""
    deepest = np.zeros(len(tracks), dtype=np.int64)
    np.maximum.at(deepest, track, depth.astype(np.int64))
    short = [LABELS.get(track.kind, track.name.rpartition(" · ")[2]) for track in tracks]
    return tuple(
        Track(label if short.count(label) == 1 else one.name, str(one.kind), int(deepest[i]) + 1, one.device)
        for i, (label, one) in enumerate(zip(short, tracks, strict=True))
    )


def _launches(drawn: Timeline, rows: Rows) -> npt.NDArray[np.int32]:
    local = np.full(len(drawn.launch) + 1, -1, dtype=np.int32)
    local[rows] = np.arange(len(rows))
    return np.asarray(local[drawn.launch[rows]], dtype=np.int32)
