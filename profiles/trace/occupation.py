"""How long GPU slices kept the devices busy, and how much of it was communication, alone or beside other kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from profiles.results import Role
from profiles.trace.intervals import union_ns
from profiles.trace.model import Bools, Int64s, SliceKind, Trace
from profiles.trace.roles import role_of


class Occupation(NamedTuple):
    """Unions of intervals per device, added over devices: of all slices, of communication kernels, and of the part
    of the latter in which another kernel ran too."""

    busy_ns: int
    communication_ns: int
    overlapped_ns: int


class Occupations:
    """Of one trace, for as many sets of its slices as are asked for."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        used = np.unique(trace.slices.name[trace.slices.of(SliceKind.KERNEL)]).tolist()
        self._communicates = np.zeros(len(trace.names) + 1, np.bool_)
        self._communicates[[number for number in used if role_of(trace.names[number]) is Role.COMMUNICATION]] = True
        self._device = np.array([-1 if track.device is None else track.device for track in trace.tracks], np.int64)

    def of(self, rows: Int64s) -> Occupation:
        """Of the GPU slices `rows`, which come ordered by start."""
        slices = self._trace.slices
        device = self._device[slices.track[rows]]
        by_device = np.argsort(device, kind="stable")
        parts = np.split(rows[by_device], np.flatnonzero(np.diff(device[by_device])) + 1)
        return Occupation(*(sum(found) for found in zip(*map(self._of_device, parts), strict=True)))

    def _of_device(self, rows: Int64s) -> Occupation:
        kernel = self._trace.slices.kind[rows] == SliceKind.KERNEL
        communicates = kernel & self._communicates[self._trace.slices.name[rows]]
        communication_ns = self._union(rows, communicates)
        overlapped_ns = 0
        if communication_ns:
            overlapped_ns = communication_ns + self._union(rows, kernel & ~communicates) - self._union(rows, kernel)
        return Occupation(
            busy_ns=self._union(rows, np.ones(len(rows), np.bool_)),
            communication_ns=communication_ns,
            overlapped_ns=overlapped_ns,
        )

    def _union(self, rows: Int64s, chosen: Bools) -> int:
        found = rows[chosen]
        starts = self._trace.slices.start_ns[found]
        return union_ns(starts, starts + self._trace.slices.duration_ns[found])
