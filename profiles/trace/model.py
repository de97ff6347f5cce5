"""The normal form of a trace: columns of integer nanoseconds and interned names, whatever the file's format was.

The readers fill it; steps, counts, roles and health are read from it elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from profiles.results import Finding
from profiles.trace.ranks import Rank

Int64s = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

ABSENT = -1
PROCESS_SHIFT = 32  # correlations of several processes in one file: the process's number stands above these bits


class TraceLimits(msgspec.Struct, frozen=True, kw_only=True):
    """On the file as it lies there, on the decompressed stream, on the ratio of both once the stream is longer than
    `ratio_after_bytes`, and on JSON nesting."""

    max_file_bytes: int = 4 << 30
    max_bytes: int = 4 << 30
    max_ratio: int = 200
    ratio_after_bytes: int = 64 << 20
    max_nesting: int = 128


class SliceKind(IntEnum):
    """What an interval is. The first three are GPU activity; the next two are calls that may launch it."""

    KERNEL = 0
    MEMCPY = 1
    MEMSET = 2
    RUNTIME = 3
    DRIVER = 4
    OPERATOR = 5
    ANNOTATION = 6


GPU_KINDS = (SliceKind.KERNEL, SliceKind.MEMCPY, SliceKind.MEMSET)
CALL_KINDS = (SliceKind.RUNTIME, SliceKind.DRIVER)


class Track(msgspec.Struct, frozen=True, kw_only=True):
    """A row: a stream of a device (GPU slices), or a thread of a process (everything else: `device` is None)."""

    process: str
    row: str
    device: int | None = None


class Device(msgspec.Struct, frozen=True, kw_only=True):
    index: int
    name: str | None


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """How a kernel was launched, as far as the file tells; registers are per thread, shared memory in bytes per block,
    occupancy is the recorder's estimate of what was achieved, as a share. Of a replayed CUDA graph, `graph_node` is the
    node's number: equal in all replays, so that (node, correlation) names one kernel of one replay."""

    registers: int | None = None
    shared_bytes: int | None = None
    grid: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    occupancy: float | None = None
    graph_node: int | None = None


@dataclass(frozen=True, slots=True)
class Slices:
    """One entry per valid slice, all columns equally long, ordered by start, then longest first.

    `name`, `track` and `shape` index the trace's tables. `correlation` joins calls and GPU slices: it is not unique, as
    one graph launch starts many kernels. It and `shape` are ABSENT where there is none.
    """

    kind: Int64s
    name: Int64s
    track: Int64s
    start_ns: Int64s
    duration_ns: Int64s
    correlation: Int64s
    shape: Int64s

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def end_ns(self) -> Int64s:
        return self.start_ns + self.duration_ns

    def ends_ns(self, rows: Int64s) -> Int64s:
        """When these slices end; `end_ns` goes through all of them."""
        ends: Int64s = self.start_ns[rows] + self.duration_ns[rows]
        return ends

    def of(self, *kinds: SliceKind) -> Int64s:
        """The rows of these kinds, in order."""
        return np.flatnonzero(np.isin(self.kind, kinds))


class FrameKind(IntEnum):
    """What a frame says of all that runs within it: one nn.Module, whose path is that of the modules around it; a whole
    path; or a line of the user's code."""

    MODULE = 0
    PATH = 1
    SOURCE = 2


class FrameLabel(NamedTuple):
    kind: FrameKind
    text: str


@dataclass(frozen=True, slots=True)
class Frames:
    """The Python that ran on the host's threads, as far as it can be the cause of a launch, ordered like slices.
    `track` indexes the trace's tracks, `label` the `labels`."""

    labels: tuple[FrameLabel, ...]
    track: Int64s
    start_ns: Int64s
    end_ns: Int64s
    label: Int64s

    def __len__(self) -> int:
        return len(self.label)


_NONE = np.zeros(0, np.int64)
NO_FRAMES = Frames((), _NONE, _NONE, _NONE, _NONE)


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """A whole recording, equal to itself alone. `findings` are what the reader noticed; `profiles.trace.health` adds
    what the slices tell.

    `records` counts all that the file holds, of whatever kind. `epoch_ns` is the absolute time of the clock's zero.
    `other_accelerator` names a vendor's records that are no GPU kernels. Timestamps were written in `unit`. The file
    tells nothing of the kinds in `absent`, not even that there were none. `rank` is None where it tells of none.
    """

    format: str
    names: tuple[str, ...]
    tracks: tuple[Track, ...]
    slices: Slices
    devices: tuple[Device, ...]
    findings: tuple[Finding, ...]
    records: int
    epoch_ns: int = 0
    other_accelerator: str | None = None
    shapes: tuple[LaunchShape, ...] = ()
    unit: str = "us"
    absent: frozenset[SliceKind] = frozenset()
    rank: Rank | None = None
    frames: Frames = NO_FRAMES
