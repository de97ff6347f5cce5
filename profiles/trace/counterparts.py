"""The same kernels launched one by one: which slices of an uncaptured pass each slice of a replay stands for.

Matched by their names in order. A sequence that stands in several places has several counterparts for each slice, and
tells what all of them agree on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from profiles.trace.launches import CallKind, Launches
from profiles.trace.model import ABSENT, GPU_KINDS, Int64s, SliceKind, Trace
from profiles.trace.operators import compute_operators
from profiles.trace.steps import Step, find_steps

UNCAPTURED = "fusescope.uncaptured"
_FEWEST = 8  # kernels of a graph, and
_FEWEST_NAMES = 3  # names among them: fewer may stand in a file that marks no uncaptured pass by chance
_MOST_CANDIDATES = 4_000_000


@dataclass(frozen=True, slots=True)
class Counterparts:
    """The nth of `rows` belongs to a group, whose counterparts are `candidates` from its start to that of the next."""

    rows: Int64s
    group: Int64s
    starts: Int64s
    candidates: Int64s

    def agreed(self, values: Int64s) -> Int64s:
        """For each of `rows` what `values` (one per slice) says of all its counterparts; ABSENT where they differ."""
        if not len(self.rows):
            return np.zeros(0, np.int64)
        found = values[self.candidates]
        least, most = np.minimum.reduceat(found, self.starts), np.maximum.reduceat(found, self.starts)
        return np.where(least == most, least, ABSENT)[self.group]


def find_counterparts(trace: Trace, launches: Launches) -> Counterparts:
    found = _Found()
    marks = _marks(trace)
    if marks:
        _within_marks(trace, launches, marks, found)
    elif len(launches.of(CallKind.GRAPH)):
        singles = _singles(trace, launches)
        for replay in _replays(trace, launches):
            if len(replay) >= _FEWEST and len(np.unique(trace.slices.name[replay])) >= _FEWEST_NAMES:
                found.add_sequence(replay, _occurrences(trace, replay, singles))
    return found.counterparts()


class _Found:
    """Grows by matched slices; one that is matched already stays with its first match."""

    def __init__(self) -> None:
        self._rows: dict[int, int] = {}
        self._groups: list[Int64s] = []

    def add_sequence(self, rows: Int64s, occurrences: Int64s | None) -> None:
        """`occurrences` [places, len(rows)]: the nth slice's counterparts stand in the nth column."""
        if occurrences is not None:
            for row, candidates in zip(rows.tolist(), occurrences.T, strict=True):
                self.add([row], candidates)

    def add(self, rows: Sequence[int], candidates: Int64s) -> None:
        new = [row for row in rows if row not in self._rows]
        if new and len(candidates):
            self._rows.update(dict.fromkeys(new, len(self._groups)))
            self._groups.append(candidates)

    def counterparts(self) -> Counterparts:
        lengths = np.array([len(group) for group in self._groups], np.int64)
        return Counterparts(
            rows=np.array(list(self._rows), np.int64),
            group=np.array(list(self._rows.values()), np.int64),
            starts=np.cumsum(lengths) - lengths,
            candidates=np.concatenate([np.zeros(0, np.int64), *self._groups]),
        )


def _marks(trace: Trace) -> list[tuple[int, int]]:
    slices = trace.slices
    rows = slices.of(SliceKind.ANNOTATION)
    named = [row for row in rows.tolist() if trace.names[slices.name[row]] == UNCAPTURED]
    return [(int(slices.start_ns[row]), int(slices.end_ns[row])) for row in named]


def _within_marks(trace: Trace, launches: Launches, marks: list[tuple[int, int]], found: _Found) -> None:
    """Of a run's own passes. First whole passes that are the uncaptured one over again, then each graph's kernels in
    order, at last single slices by their name, which then tells what it means everywhere in that pass."""
    start_ns, end_ns = marks[-1]
    steps = find_steps(trace, launches)
    gpu = trace.slices.of(*GPU_KINDS)
    called_ns = trace.slices.start_ns[launches.call_of[gpu]]
    started = gpu[(launches.call_of[gpu] != ABSENT) & (called_ns >= start_ns) & (called_ns < end_ns)]
    if len(started):
        for kind in GPU_KINDS:
            single = _launched(trace, launches, started[trace.slices.kind[started] == kind])
            passes = [_launched(trace, launches, _of_kind(trace, step, kind)) for step in steps]
            replays = _replays(trace, launches) if kind == SliceKind.KERNEL else iter(())
            _matched(trace, single, passes, replays, found)
        return
    single = compute_operators(trace, start_ns, end_ns)
    passes = [compute_operators(trace, step.start_ns, step.end_ns) for step in steps]
    _matched(trace, single, passes, iter(()), found)


def _matched(trace: Trace, single: Int64s, passes: list[Int64s], replays: Iterator[Int64s], found: _Found) -> None:
    names = trace.slices.name
    for rows in passes:
        if np.array_equal(names[rows], names[single]):
            found.add_sequence(rows, single[None, :])
    for replay in replays:
        found.add_sequence(replay, _occurrences(trace, replay, single))
    by_name = {name: single[names[single] == name] for name in np.unique(names[single]).tolist()}
    for rows in passes:
        for name in np.unique(names[rows]).tolist():
            if name in by_name:
                found.add(rows[names[rows] == name].tolist(), by_name[name])


def _of_kind(trace: Trace, step: Step, kind: SliceKind) -> Int64s:
    rows: Int64s = step.slices[trace.slices.kind[step.slices] == kind]
    return rows


def _launched(trace: Trace, launches: Launches, rows: Int64s) -> Int64s:
    """In order of their launch, those of one launch by their start."""
    starts = trace.slices.start_ns
    return rows[np.lexsort((starts[rows], starts[launches.call_of[rows]]))]


def _replays(trace: Trace, launches: Launches) -> Iterator[Int64s]:
    """The kernels of each graph launch, in the order in which they ran."""
    slices = trace.slices
    kernels = slices.of(SliceKind.KERNEL)
    calls = launches.call_of[kernels]
    graphs = launches.of(CallKind.GRAPH)
    mine = kernels[np.isin(calls, graphs) & (calls != ABSENT)]
    mine = mine[np.argsort(launches.call_of[mine], kind="stable")]
    bounds = np.flatnonzero(np.diff(launches.call_of[mine])) + 1
    return (replay for replay in np.split(mine, bounds) if len(replay))


def _singles(trace: Trace, launches: Launches) -> Int64s:
    """All kernels that have a launch of their own, by thread and time; ABSENT between threads."""
    slices = trace.slices
    kernels = slices.of(SliceKind.KERNEL)
    calls = launches.call_of[kernels]
    kernels = kernels[np.isin(calls, launches.of(CallKind.KERNEL)) & (calls != ABSENT)]
    calls = launches.call_of[kernels]
    order = np.lexsort((slices.start_ns[kernels], slices.start_ns[calls], slices.track[calls]))
    bounds = np.flatnonzero(np.diff(slices.track[calls[order]])) + 1
    return np.insert(kernels[order], bounds, ABSENT)


def _occurrences(trace: Trace, replay: Int64s, singles: Int64s) -> Int64s | None:
    """Where the replay's names stand among the singles', as rows [places, len(replay)]; None where nowhere, or in so
    many places that nothing follows."""
    names = trace.slices.name
    sought = names[replay].astype(np.int32).tobytes()
    text = np.where(singles == ABSENT, ABSENT, names[singles]).astype(np.int32).tobytes()
    places: list[int] = []
    at = text.find(sought)
    while at >= 0:
        if at % 4 == 0:
            places.append(at // 4)
            if len(places) * len(replay) > _MOST_CANDIDATES:
                return None
        at = text.find(sought, at + 1)
    return np.stack([singles[place : place + len(replay)] for place in places]) if places else None
