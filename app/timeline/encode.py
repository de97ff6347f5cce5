"""One forward pass of a timeline as the binary columns that the canvas draws.

The layout: the header's length (uint32, little endian), the header (JSON, padded with spaces), then the columns that
the header lists, each at a multiple of 8 bytes; their offsets count from the end of the header.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from profiles.results import Role
from profiles.trace.timeline import Step, Timeline, TimelineTrack, TrackKind

MOST_SLICES = 200_000
ALIGNMENT = 8
DEEPEST = 255
HOST_ROWS = {TrackKind.LAUNCHES: "host launches", TrackKind.OPS: "operators"}

Rows = npt.NDArray[np.intp]


class Named(msgspec.Struct, frozen=True):
    short: str
    full: str
    role: str


class Track(msgspec.Struct, frozen=True):
    name: str
    kind: str
    depth: int


class ColumnPlace(msgspec.Struct, frozen=True):
    name: str
    type: str
    offset: int
    count: int


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """Times in the columns are ns from `zero`: the start of the first slice on a device (on a CPU: of an operator).

    `slices` counts those of the forward pass; `drawn` may be fewer, then the longest ones are sent.
    """

    step: str | None
    zero_ns: int
    slices: int
    drawn: int
    tracks: tuple[Track, ...]
    names: tuple[Named, ...]
    stage_sets: tuple[tuple[str, ...], ...]
    columns: tuple[ColumnPlace, ...]


def encode(drawn: Timeline, *, most: int = MOST_SLICES) -> bytes:
    """The forward pass of median length; the whole timeline where it knows no passes."""
    step = _typical(drawn.steps)
    every = _without_inner_unknown(drawn, _rows(drawn, step))
    rows = _longest(drawn, every, most)
    depth = _depths(drawn, rows)
    zero = _zero(drawn, rows)
    tracks, track = _tracks(drawn, rows, depth)
    names, name = np.unique(drawn.name[rows], return_inverse=True)
    columns: dict[str, npt.NDArray[np.generic]] = {
        "start": (drawn.start_ns[rows] - zero).astype("<f8"),
        "duration": drawn.duration_ns[rows].astype("<f8"),
        "name": name.astype("<u4"),
        "launch": _launches(drawn, rows).astype("<i4"),
        "stages": drawn.stages[rows].astype("<u2"),
        "track": track.astype("<u2"),
        "depth": depth.astype("u1"),
    }
    header = Header(
        step=None if step is None else step.name,
        zero_ns=zero,
        slices=len(every),
        drawn=len(rows),
        tracks=tracks,
        names=tuple(Named(drawn.short_names[i], drawn.names[i], str(drawn.roles[i])) for i in names),
        stage_sets=drawn.stage_sets,
        columns=(),
    )
    return _packed(header, columns)


def _typical(steps: tuple[Step, ...]) -> Step | None:
    ordered = sorted(steps, key=lambda step: step.end_ns - step.start_ns)
    return ordered[len(ordered) // 2] if ordered else None


def _rows(drawn: Timeline, step: Step | None) -> Rows:
    """What is drawn: streams and the launches onto them, or a CPU's operators; of one step, by launch where known."""
    kinds = np.array([track.kind for track in drawn.tracks])
    on_device = (kinds == TrackKind.STREAM).any()
    wanted = (TrackKind.STREAM, TrackKind.LAUNCHES) if on_device else (TrackKind.OPS,)
    shown = np.isin(kinds, wanted)[drawn.track] if len(kinds) else np.zeros(len(drawn.track), dtype=bool)
    if step is not None:
        begun = np.where(drawn.launch >= 0, drawn.start_ns[drawn.launch], drawn.start_ns)
        shown &= (begun >= step.start_ns) & (begun <= step.end_ns)
        shown &= (drawn.start_ns >= step.start_ns) & (drawn.start_ns <= step.end_ns)
    return np.flatnonzero(shown)


def _without_inner_unknown(drawn: Timeline, rows: Rows) -> Rows:
    """Views and allocations within a named operator are no work of their own and would only add rows."""
    unknown = np.array([role is Role.OTHER for role in drawn.roles], dtype=bool)[drawn.name[rows]]
    return rows[~(unknown & (_depths(drawn, rows) > 0))]


def _longest(drawn: Timeline, rows: Rows, most: int) -> Rows:
    if len(rows) <= most:
        return rows
    order = np.argpartition(drawn.duration_ns[rows], len(rows) - most)[len(rows) - most :]
    return np.sort(rows[order])


def _zero(drawn: Timeline, rows: Rows) -> int:
    if not len(rows):
        return 0
    host = np.array([track.kind == TrackKind.LAUNCHES for track in drawn.tracks])[drawn.track[rows]]
    starts = drawn.start_ns[rows]
    return int((starts if host.all() else starts[~host]).min())


def _depths(drawn: Timeline, rows: Rows) -> npt.NDArray[np.uint8]:
    """How many slices of its own track enclose each; overlapping slices on a stream are not nested."""
    depth = np.zeros(len(rows), dtype=np.uint8)
    nests = np.array([track.kind == TrackKind.OPS for track in drawn.tracks], dtype=bool)
    starts, ends = drawn.start_ns[rows], drawn.start_ns[rows] + drawn.duration_ns[rows]
    enclosing: dict[int, list[int]] = {}
    for position in np.flatnonzero(nests[drawn.track[rows]]).tolist():
        open_ends = enclosing.setdefault(int(drawn.track[rows[position]]), [])
        while open_ends and open_ends[-1] <= starts[position]:
            open_ends.pop()
        depth[position] = min(len(open_ends), DEEPEST)
        open_ends.append(int(ends[position]))
    return depth


def _tracks(
    drawn: Timeline, rows: Rows, depth: npt.NDArray[np.uint8]
) -> tuple[tuple[Track, ...], npt.NDArray[np.intp]]:
    """The tracks that have slices: host rows first, as the launches come before what they start."""
    used, index = np.unique(drawn.track[rows], return_inverse=True)
    order = sorted(range(len(used)), key=lambda i: drawn.tracks[used[i]].kind == TrackKind.STREAM)
    place = np.empty(len(used), dtype=np.intp)
    place[order] = np.arange(len(used))
    deepest = [int(depth[index == i].max(initial=0)) + 1 for i in range(len(used))]
    shown = [drawn.tracks[used[i]] for i in order]
    labels = _labels(shown)
    tracks = tuple(
        Track(label, str(track.kind), deepest[i]) for label, track, i in zip(labels, shown, order, strict=True)
    )
    return tracks, place[index]


def _labels(tracks: Sequence[TimelineTrack]) -> list[str]:
    """`stream 7`, `host launches`, `operators`: the process and thread only where two rows would read the same."""
    short = [HOST_ROWS.get(track.kind, track.name.rpartition(" · ")[2]) for track in tracks]
    return [label if short.count(label) == 1 else track.name for label, track in zip(short, tracks, strict=True)]


def _launches(drawn: Timeline, rows: Rows) -> npt.NDArray[np.intp]:
    """Each slice's launch as a row of what is sent; -1 where it is not."""
    local = np.full(len(drawn.launch) + 1, -1, dtype=np.intp)
    local[rows] = np.arange(len(rows))
    return local[drawn.launch[rows]]


def _packed(header: Header, columns: Mapping[str, npt.NDArray[np.generic]]) -> bytes:
    """The header names offsets, and its length moves them: they count from the end of the header."""
    places, body = [], bytearray()
    for name, column in columns.items():
        places.append(ColumnPlace(name, column.dtype.str.lstrip("<|"), len(body), len(column)))
        body += column.tobytes()
        body += bytes(-len(body) % ALIGNMENT)
    text = msgspec.json.encode(msgspec.structs.replace(header, columns=tuple(places)))
    text += b" " * (-(len(text) + 4) % ALIGNMENT)
    return len(text).to_bytes(4, "little") + text + bytes(body)
