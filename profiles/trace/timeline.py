"""A trace as columns to draw: tracks, slices with names and roles, and the extent of each forward pass."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from profiles.results import Role
from profiles.trace import steps
from profiles.trace.causes import Cause, Causes, find_causes
from profiles.trace.launches import Launches, find_launches
from profiles.trace.model import GPU_KINDS, SliceKind, Trace, Track
from profiles.trace.names import short_names
from profiles.trace.operators import compute_operators
from profiles.trace.roles import role_of
from profiles.trace.stages import find_stages
from profiles.trace.steps import find_steps


class TrackKind(StrEnum):
    """`launches` are the host's calls that start something on a GPU, `calls` its others (synchronisations, queries)."""

    STREAM = "stream"
    LAUNCHES = "launches"
    CALLS = "calls"
    OPS = "ops"
    ANNOTATIONS = "annotations"


_KINDS = tuple(TrackKind)
_TRACK_KIND = np.array(
    [0, 0, 0, 2, 2, 3, 4], np.int64
)  # place in _KINDS, by SliceKind; calls that launch are told apart
_COLUMNS = {
    "track": np.uint16,
    "name": np.uint32,
    "start_ns": np.int64,
    "duration_ns": np.int64,
    "launch": np.int32,
    "stages": np.uint32,
    "cause": np.uint32,
}


class TimelineTrack(msgspec.Struct, frozen=True, kw_only=True):
    """`device` is the GPU's index, None for the host's rows."""

    name: str
    kind: TrackKind
    device: int | None


class Step(NamedTuple):
    """From the start of its first launch or slice to the end of its last slice, on the timeline's clock."""

    name: str
    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """One entry per slice in each column, ordered by start; times count from the trace's first slice.

    `track`, `name`, `stages` and `cause` index `tracks`, `names` (with `short_names` and `roles` beside it),
    `stage_sets` and `causes`; `launch` is the row of the slice that launched this one, -1 where there is none.
    """

    tracks: tuple[TimelineTrack, ...]
    names: tuple[str, ...]
    short_names: tuple[str, ...]
    roles: tuple[Role, ...]
    stage_sets: tuple[tuple[str, ...], ...]
    steps: tuple[Step, ...]
    track: npt.NDArray[np.uint16]
    name: npt.NDArray[np.uint32]
    start_ns: npt.NDArray[np.int64]
    duration_ns: npt.NDArray[np.int64]
    launch: npt.NDArray[np.int32]
    stages: npt.NDArray[np.uint32]
    cause: npt.NDArray[np.uint32]
    causes: tuple[Cause, ...] = (Cause(),)


def timeline(trace: Trace, causes: Causes | None = None) -> Timeline:
    """`causes` are the trace's, where they are found already."""
    launches = find_launches(trace)
    causes = causes or find_causes(trace, launches)
    stages = find_stages(trace, launches)
    slices = trace.slices
    origin_ns = int(slices.start_ns[0]) if len(slices) else 0
    tracks, track = _tracks(trace, launches)
    return Timeline(
        tracks=tracks,
        names=trace.names,
        short_names=short_names(trace.names),
        roles=_roles(trace),
        stage_sets=stages.sets,
        steps=tuple(_extent(trace, launches, step, origin_ns) for step in find_steps(trace, launches)),
        track=track.astype(np.uint16),
        name=slices.name.astype(np.uint32),
        start_ns=slices.start_ns - origin_ns,
        duration_ns=slices.duration_ns,
        launch=launches.call_of.astype(np.int32),
        stages=stages.of_row.astype(np.uint32),
        cause=causes.of_row.astype(np.uint32),
        causes=causes.table,
    )


def save_timeline(drawn: Timeline, path: Path) -> None:
    """As an `.npz` of plain arrays: the columns, and the tables as one JSON text. Not compressed: the file is handed
    over once, to who stores the timeline in chunks of its own."""
    tables = _Tables(
        tracks=drawn.tracks,
        names=drawn.names,
        short_names=drawn.short_names,
        roles=drawn.roles,
        stage_sets=drawn.stage_sets,
        steps=drawn.steps,
        causes=drawn.causes,
    )
    text = np.frombuffer(msgspec.json.encode(tables), np.uint8)
    with path.open("wb") as file:
        np.savez(file, tables=text, **{name: getattr(drawn, name) for name in _COLUMNS})


def load_timeline(path: Path) -> Timeline:
    """The timeline that `save_timeline` wrote there. ValueError when the file is something else."""
    try:
        with np.load(path, allow_pickle=False) as file:
            tables = msgspec.json.decode(file["tables"].tobytes(), type=_Tables)
            columns = {name: file[name].astype(dtype, casting="equiv") for name, dtype in _COLUMNS.items()}
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path.name} holds no timeline: {error}") from error
    return Timeline(**msgspec.structs.asdict(tables), **columns)


class _Tables(msgspec.Struct, frozen=True):
    tracks: tuple[TimelineTrack, ...]
    names: tuple[str, ...]
    short_names: tuple[str, ...]
    roles: tuple[Role, ...]
    stage_sets: tuple[tuple[str, ...], ...]
    steps: tuple[Step, ...]
    causes: tuple[Cause, ...]


def _tracks(trace: Trace, launches: Launches) -> tuple[tuple[TimelineTrack, ...], npt.NDArray[np.int64]]:
    """GPU streams first, then the host's threads, each with its calls, operators and annotations on rows of their own;
    and the track of each slice."""
    slices = trace.slices
    kinds = _TRACK_KIND[slices.kind]
    kinds[launches.calls] = _KINDS.index(TrackKind.LAUNCHES)
    pairs, of_row = np.unique(np.stack([kinds, slices.track]), axis=1, return_inverse=True)
    found = [(trace.tracks[track], _KINDS[kind]) for kind, track in pairs.T.tolist()]
    order = sorted(range(len(found)), key=lambda at: _place(*found[at]))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    drawn = tuple(
        TimelineTrack(name=f"{track.process} · {track.row}", kind=kind, device=track.device)
        for track, kind in (found[at] for at in order)
    )
    return drawn, rank[of_row.reshape(-1)]


def _place(track: Track, kind: TrackKind) -> tuple[int, int, str, int, str]:
    """Streams by device and number; a thread's rows in the order of `_KINDS`."""
    digits = re.search(r"\d{1,18}", track.row)  # of a hostile label no more than an integer holds
    number = int(digits[0]) if digits else 0
    device = -1 if track.device is None else track.device
    return int(track.device is None), device, track.process, number, f"{track.row}{_KINDS.index(kind)}"


def _roles(trace: Trace) -> tuple[Role, ...]:
    """Of what GPUs and operators did; annotations and calls have none, whatever their names say."""
    slices = trace.slices
    working = set(np.unique(slices.name[slices.of(*GPU_KINDS, SliceKind.OPERATOR)]).tolist())
    return tuple(role_of(name) if index in working else Role.OTHER for index, name in enumerate(trace.names))


def _extent(trace: Trace, launches: Launches, step: steps.Step, origin_ns: int) -> Step:
    slices = trace.slices
    calls = launches.calls[step.calls]
    rows = (
        np.concatenate([calls, step.slices])
        if len(step.slices)
        else compute_operators(trace, step.start_ns, step.end_ns)
    )
    if not len(rows):
        return Step(step.name, step.start_ns - origin_ns, step.end_ns - origin_ns)
    last = step.slices if len(step.slices) else rows
    ends = slices.start_ns[last] + slices.duration_ns[last]
    return Step(step.name, int(slices.start_ns[rows].min()) - origin_ns, int(ends.max()) - origin_ns)
