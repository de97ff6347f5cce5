"""What is drawn of a timeline as the binary columns that the canvas reads.

The layout: the header's length (uint32, little endian), the header (JSON, padded with spaces), then the columns that
the header lists, each at a multiple of 8 bytes; their offsets count from the end of the header.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from app.timeline.doubts import Doubt
from app.timeline.merge import merge
from app.timeline.shown import Rows, Shown, Track
from profiles.trace.causes import Cause
from profiles.trace.printable import printable
from profiles.trace.timeline import Timeline, TrackKind

MOST_SLICES = 200_000
OVERVIEW_WIDTH = 4096
WIDEST = 16_384
ALIGNMENT = 8
NARROW_FIRST = ("u1", "<u2", "<i4", "<u4")
OPTIONAL = ("stages", "cause")
"""Left out where all of them are 0, as of most traces."""

Columns = Mapping[str, npt.NDArray[np.integer]]


class Named(msgspec.Struct, frozen=True):
    short: str
    full: str
    role: str


class ColumnPlace(msgspec.Struct, frozen=True):
    name: str
    type: str
    offset: int
    count: int


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """Times in the columns are ns from `zero_ns`.

    `slices` counts those that there are, `in_view` those that touch what was asked for; they are all sent, one by one
    or, where `merged`, several to a column (`count`). `ends` are the first start and the last end of the work, and
    `why` says what is missing, `doubts` what cannot be trusted. A cause is [operator, module, source, inferred].
    """

    step: str | None
    zero_ns: int
    slices: int
    in_view: int
    hits_in_all: int
    merged: bool
    ends: tuple[int, int]
    why: str
    doubts: tuple[Doubt, ...]
    main: tuple[str, ...]
    tracks: tuple[Track, ...]
    names: tuple[Named, ...]
    stage_sets: tuple[tuple[str, ...], ...]
    causes: tuple[Cause, ...]
    columns: tuple[ColumnPlace, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """Of a timeline, from_ns ≤ t ≤ to_ns on its own clock, as a picture of `width` pixels shows it."""

    from_ns: int
    to_ns: int
    width: int


def encode(
    shown: Shown,
    window: Window | None = None,
    *,
    query: str = "",
    most: int = MOST_SLICES,
    doubts: tuple[Doubt, ...] = (),
) -> bytes:
    """All slices one by one where they are no more than `most`; else merged, without a window as an overview.

    `query` counts those whose names contain it, in any case of letters.
    """
    lit = matching(shown, query)
    if window is None and len(shown.start_ns) <= most:
        header, columns = _header(shown, lit, np.arange(len(shown.start_ns)), merged=False), _every(shown)
    else:
        header, columns = _merged(shown, window or _overview(shown), lit)
    return _packed(msgspec.structs.replace(header, doubts=doubts), columns)


def matching(shown: Shown, query: str) -> npt.NDArray[np.bool_]:
    """Of each name of the timeline, whether its full or its short form contains the text."""
    drawn, wanted = shown.timeline, query.casefold()
    if not wanted:
        return np.zeros(len(drawn.names), dtype=bool)
    both = zip(drawn.names, drawn.short_names, strict=True)
    return np.array([wanted in full.casefold() or wanted in short.casefold() for full, short in both], dtype=bool)


def _every(shown: Shown) -> Columns:
    return {
        "start": shown.start_ns - shown.zero_ns,
        "duration": shown.duration_ns,
        "name": _renumbered(shown.name)[1],
        "launch": shown.launch,
        "stages": shown.stages,
        "cause": _renumbered(shown.cause)[1],
        "track": shown.track,
        "depth": shown.depth,
    }


def _merged(shown: Shown, window: Window, lit: npt.NDArray[np.bool_]) -> tuple[Header, Columns]:
    found = merge(shown, from_ns=window.from_ns, to_ns=window.to_ns, width=window.width, lit=lit if lit.any() else None)
    rows = found.row
    columns: Columns = {
        "start": found.start_ns - shown.zero_ns,
        "duration": found.end_ns - found.start_ns,
        "name": _renumbered(shown.name[rows])[1],
        "launch": _local(shown.launch[rows], rows, len(shown.start_ns)),
        "stages": shown.stages[rows],
        "cause": _renumbered(shown.cause[rows])[1],
        "track": shown.track[rows],
        "depth": shown.depth[rows],
        "count": found.count,
        "busy": found.busy_ns,
        "hits": found.hits,
    }
    return _header(shown, lit, rows, merged=True, in_view=int(found.count.sum())), columns


def _header(
    shown: Shown, lit: npt.NDArray[np.bool_], rows: Rows, *, merged: bool, in_view: int | None = None
) -> Header:
    drawn = shown.timeline
    used, _ = _renumbered(shown.name[rows])
    return Header(
        step=shown.step,
        zero_ns=shown.zero_ns,
        slices=len(shown.start_ns),
        in_view=len(rows) if in_view is None else in_view,
        hits_in_all=int(lit[shown.name].sum()) if lit.any() else 0,
        merged=merged,
        ends=(shown.ends_ns[0] - shown.zero_ns, shown.ends_ns[1] - shown.zero_ns),
        why=_why(shown),
        doubts=(),
        main=tuple(str(kind) for kind in shown.main),
        tracks=shown.tracks,
        names=tuple(_named(drawn, i) for i in used),
        stage_sets=drawn.stage_sets,
        causes=tuple(_shown_cause(drawn.causes[i]) for i in _renumbered(shown.cause[rows])[0]),
        columns=(),
    )


def _named(drawn: Timeline, index: int) -> Named:
    return Named(printable(drawn.short_names[index]), printable(drawn.names[index]), str(drawn.roles[index]))


def _shown_cause(cause: Cause) -> Cause:
    operator, module, source = (None if text is None else printable(text) for text in cause[:3])
    return Cause(operator, module, source, cause.inferred)


def _why(shown: Shown) -> str:
    if not len(shown.start_ns):
        return "This trace has no slices to draw."
    kinds = {track.kind for track in shown.tracks}
    if TrackKind.STREAM not in kinds and TrackKind.LAUNCHES in kinds:
        return "Launches only: the trace has no GPU records of them."
    if not kinds & set(shown.main):
        return "The trace has neither GPU slices nor operators."
    return ""


def _overview(shown: Shown) -> Window:
    first = int(shown.start_ns.min())
    return Window(first, max(int((shown.start_ns + shown.duration_ns).max()), first + 1), OVERVIEW_WIDTH)


def _renumbered(name: npt.NDArray[np.uint32]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The names in use, and each slice's place among them."""
    used = np.flatnonzero(np.bincount(name)) if len(name) else np.empty(0, np.intp)
    place = np.zeros(int(used[-1]) + 1 if len(used) else 0, np.intp)
    place[used] = np.arange(len(used))
    return used, place[name]


def _local(launch: npt.NDArray[np.int32], rows: Rows, total: int) -> npt.NDArray[np.intp]:
    """Launches as places among the rows that are sent; -1 where they are merged away."""
    place = np.full(total + 1, -1, dtype=np.intp)
    place[rows] = np.arange(len(rows))
    return place[launch]


def _narrowest(column: npt.NDArray[np.integer]) -> npt.NDArray[np.generic]:
    """Of the types that a browser has, the first that holds all values; whole ns are exact in doubles for 104 days."""
    least, most = (int(column.min()), int(column.max())) if len(column) else (0, 0)
    for kind in NARROW_FIRST:
        if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max:
            return column.astype(kind)
    return column.astype("<f8")


def _packed(header: Header, columns: Columns) -> bytes:
    """The header names offsets, and its length moves them: they count from the end of the header."""
    places, body = [], bytearray()
    for name, whole in columns.items():
        if name in OPTIONAL and not whole.any():
            continue
        column = _narrowest(whole)
        places.append(ColumnPlace(name, column.dtype.str.lstrip("<|"), len(body), len(column)))
        body += column.tobytes()
        body += bytes(-len(body) % ALIGNMENT)
    text = msgspec.json.encode(msgspec.structs.replace(header, columns=tuple(places)))
    text += b" " * (-(len(text) + 4) % ALIGNMENT)
    return len(text).to_bytes(4, "little") + text + bytes(body)
