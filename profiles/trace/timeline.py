"""A trace as columns to draw: tracks, slices with names and roles, and the extent of each forward pass."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from profiles.results import Role
from profiles.trace.model import Trace


class TrackKind(StrEnum):
    STREAM = "stream"
    LAUNCHES = "launches"
    OPS = "ops"
    ANNOTATIONS = "annotations"


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

    `track`, `name` and `stages` index `tracks`, `names` (with `short_names` and `roles` beside it) and `stage_sets`;
    `launch` is the row of the slice that launched this one, -1 where there is none.
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


def timeline(trace: Trace) -> Timeline:
    raise NotImplementedError


def save_timeline(drawn: Timeline, path: Path) -> None:
    """As an `.npz` of plain arrays: the columns, and the tables as one JSON text."""
    raise NotImplementedError


def load_timeline(path: Path) -> Timeline:
    """The timeline that `save_timeline` wrote there. ValueError when the file is something else."""
    raise NotImplementedError
