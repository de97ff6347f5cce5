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
_MOST_CANDIDATES, _MOST_BYTES = 4_000_000, 4 << 30
_WIDTH = 4  # bytes of a name's number


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
        text = _Text(trace, _singles(trace, launches))
        for replay in _replays(trace, launches):
            if len(replay) >= _FEWEST and len(np.unique(trace.slices.name[replay])) >= _FEWEST_NAMES:
                found.add_sequence(replay, text.occurrences(replay))
    return found.counterparts()


class _Found:
    """Grows by matched slices; one that is matched already stays with its first match. Slices with the same candidates
    are of one group: thousands of replays may be of one graph."""

    def __init__(self) -> None:
        self._rows: dict[int, int] = {}
        self._groups: list[Int64s] = []
        self._known: dict[int, tuple[Int64s, int]] = {}  # by identity, and so kept alive

    def add_sequence(self, rows: Int64s, occurrences: Int64s | None) -> None:
        """`occurrences` [places, len(rows)]: the nth slice's counterparts stand in the nth column."""
        if occurrences is not None:
            first = self._group(occurrences, occurrences.T)
            for place, row in enumerate(rows.tolist()):
                self._rows.setdefault(row, first + place)

    def add(self, rows: Sequence[int], candidates: Int64s) -> None:
        if len(candidates):
            group = self._group(candidates, candidates[None, :])
            for row in rows:
                self._rows.setdefault(row, group)

    def _group(self, candidates: Int64s, groups: Int64s) -> int:
        """The number of the first of these groups, which are the candidates'."""
        if id(candidates) not in self._known:
            self._known[id(candidates)] = candidates, len(self._groups)
            self._groups += list(groups)
        return self._known[id(candidates)][1]

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
    text = _Text(trace, single)
    for replay in replays:
        found.add_sequence(replay, text.occurrences(replay))
    by_name = dict(_by_name(trace, single))
    for rows in passes:
        for name, named in _by_name(trace, rows):
            if name in by_name:
                found.add(named.tolist(), by_name[name])


def _by_name(trace: Trace, rows: Int64s) -> Iterator[tuple[int, Int64s]]:
    """The rows of each name, in their order; the names by their numbers."""
    names = trace.slices.name[rows]
    order = np.argsort(names, kind="stable")
    numbers, starts = np.unique(names[order], return_index=True)
    return zip(numbers.tolist(), np.split(rows[order], starts[1:]), strict=bool(len(rows)))


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


class _Text:
    """The names of kernels launched one by one as bytes, in which sequences are looked for: each distinct one once, and
    no more once `_MOST_BYTES` were looked through or `_MOST_CANDIDATES` found."""

    def __init__(self, trace: Trace, singles: Int64s) -> None:
        self._names, self._singles = trace.slices.name, singles
        self._text = np.where(singles == ABSENT, ABSENT, self._names[singles]).astype(np.int32).tobytes()
        self._found: dict[bytes, Int64s | None] = {}
        self._bytes, self._candidates = _MOST_BYTES, _MOST_CANDIDATES

    def occurrences(self, replay: Int64s) -> Int64s | None:
        """Where the replay's names stand, as rows [places, len(replay)]; None where nowhere."""
        sought = self._names[replay].astype(np.int32).tobytes()
        if sought not in self._found:
            places = self._places(sought)
            rows = [self._singles[place : place + len(replay)] for place in places]
            self._found[sought] = np.stack(rows) if rows else None
        return self._found[sought]

    def _places(self, sought: bytes) -> list[int]:
        self._bytes -= len(self._text)
        places: list[int] = []
        at = self._text.find(sought) if self._bytes > 0 else -1
        while at >= 0:
            self._candidates -= len(sought) // _WIDTH  # also where it stands between names: looking for it took time
            if self._candidates < 0:
                return []
            if at % _WIDTH == 0:
                places.append(at // _WIDTH)
            at = self._text.find(sought, at + 1)
        return places
