"""What was open on the thread around each launch: the innermost operator, the nn.Modules, the user's innermost line."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from profiles.trace.callers import Operators
from profiles.trace.launches import Launches
from profiles.trace.model import ABSENT, FrameKind, Frames, Int64s, SliceKind, Slices, Trace
from profiles.trace.nesting import Nesting

SEPARATOR = " > "
_MOST_MODULES, _LONGEST = 32, 1_000  # of one path, and its characters, the innermost; honest models nest ten
_TOP = 0  # the node of no module


class Around(NamedTuple):
    """Per slice as numbers, ABSENT for none: the operator's name, the module's node, the source's label."""

    operator: Int64s
    module: Int64s
    source: Int64s


class Nodes:
    """Paths of modules: a node is the node around it and a label's text."""

    def __init__(self, trace: Trace) -> None:
        self._labels = trace.frames.labels
        self._nodes: list[tuple[int, int]] = [(_TOP, ABSENT)]
        self._numbers: dict[tuple[int, int], int] = {}

    def within(self, outer: Int64s, labels: Int64s) -> Int64s:
        """The nodes of modules in order; `outer` is the place of the one around each, ahead of it, ABSENT for none."""
        found: list[int] = []
        for around, label in zip(outer.tolist(), labels.tolist(), strict=True):
            found.append(self._number(_TOP if around == ABSENT else found[around], label))
        return np.array(found, np.int64)

    def path(self, node: int) -> str:
        texts: list[str] = []
        while node != _TOP and len(texts) < _MOST_MODULES and sum(map(len, texts)) < _LONGEST:
            node, label = self._nodes[node]
            texts.append(self._labels[label].text)
        return SEPARATOR.join([*(["…"] if node != _TOP else []), *reversed(texts)])

    def _number(self, node: int, label: int) -> int:
        number = self._numbers.setdefault((node, label), len(self._nodes))
        if number == len(self._nodes):
            self._nodes.append((node, label))
        return number


def around_launches(trace: Trace, launches: Launches) -> tuple[Around, Nodes]:
    """Of each GPU slice what was around its call; of the calls, and where Python is told of operators, their own."""
    around = Around(*(np.full(len(trace.slices), ABSENT, np.int64) for _ in Around._fields))
    nodes = Nodes(trace)
    started = launches.call_of != ABSENT
    targets = np.union1d(launches.calls, launches.call_of[started])
    if len(trace.frames):
        targets = np.union1d(targets, trace.slices.of(SliceKind.OPERATOR))
        _tell_frames(trace, targets, around, nodes)
    operators = Operators(trace).around(targets)
    around.operator[targets] = np.where(operators == ABSENT, ABSENT, trace.slices.name[operators])
    for column in around:
        column[started] = column[launches.call_of[started]]
    return around, nodes


def _tell_frames(trace: Trace, targets: Int64s, around: Around, nodes: Nodes) -> None:
    frames = trace.frames
    kinds = np.array([label.kind for label in frames.labels], np.int64)[frames.label]
    sources = _Framed(frames, np.flatnonzero(kinds == FrameKind.SOURCE))
    found = sources.around(trace.slices, targets)
    around.source[targets[found != ABSENT]] = sources.labels[found[found != ABSENT]]
    modules = _Framed(frames, np.flatnonzero(kinds != FrameKind.SOURCE))
    outer = np.where(kinds[modules.places] == FrameKind.MODULE, modules.outer(), ABSENT)
    numbers = nodes.within(outer, modules.labels)
    found = modules.around(trace.slices, targets)
    around.module[targets[found != ABSENT]] = numbers[found[found != ABSENT]]


class _Framed:
    """Some of the frames, at `places` of them, thread by thread; with their `labels`."""

    def __init__(self, frames: Frames, chosen: Int64s) -> None:
        self.places = chosen[np.argsort(frames.track[chosen], kind="stable")]
        self.labels = frames.label[self.places]
        self._track, self._start_ns = frames.track[self.places], frames.start_ns[self.places]
        self._end_ns = frames.end_ns[self.places]
        self._nesting = Nesting(self._track, self._end_ns)

    def outer(self) -> Int64s:
        """For each of these frames which one of them is right around it, ABSENT for none."""
        return self._nesting.open_at(track=self._track, at_ns=self._start_ns, before=np.arange(len(self.places)))

    def around(self, slices: Slices, rows: Int64s) -> Int64s:
        """For each of these slices which frame is right around its start; of equal extents the frame is outer."""
        columns = (
            np.repeat([0, 1], [len(self.places), len(rows)]),
            -np.concatenate([self._end_ns, slices.end_ns[rows]]),
            np.concatenate([self._start_ns, slices.start_ns[rows]]),
            np.concatenate([self._track, slices.track[rows]]),
        )
        order = np.lexsort(columns)
        before = np.empty(len(order), np.int64)
        before[order] = np.cumsum(columns[0][order] == 0)
        track, at_ns = slices.track[rows], slices.start_ns[rows]
        return self._nesting.open_at(track=track, at_ns=at_ns, before=before[len(self.places) :])
