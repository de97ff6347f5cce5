"""What was open on the thread around each launch: the innermost operator, the nn.Modules, the user's innermost line."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from profiles.trace.launches import Launches
from profiles.trace.model import ABSENT, Bools, FrameKind, Int64s, SliceKind, Trace

SEPARATOR = " > "
_MOST_MODULES = 32  # of one path, the innermost; honest models nest ten
_TOP = 0  # the node of no module
_OPERATOR, _TARGET = len(FrameKind), len(FrameKind) + 1  # kinds of the walk, after those of frames


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

    def within(self, node: int, label: int) -> int:
        number = self._numbers.setdefault((node, label), len(self._nodes))
        if number == len(self._nodes):
            self._nodes.append((node, label))
        return number

    def path(self, node: int) -> str:
        texts: list[str] = []
        while node != _TOP and len(texts) < _MOST_MODULES:
            node, label = self._nodes[node]
            texts.append(self._labels[label].text)
        return SEPARATOR.join([*(["…"] if node != _TOP else []), *reversed(texts)])


def around_launches(trace: Trace, launches: Launches) -> tuple[Around, Nodes]:
    """Of each GPU slice what was around its call; of the calls, and where Python is told of operators, their own."""
    around = Around(*(np.full(len(trace.slices), ABSENT, np.int64) for _ in Around._fields))
    nodes = Nodes(trace)
    _walk(_in_order(trace, launches), around, nodes)
    started = launches.call_of != ABSENT
    for column in around:
        column[started] = column[launches.call_of[started]]
    return around, nodes


class _Items(NamedTuple):
    """Thread by thread in order of time, outer before inner. `value` is a frame's label, an operator's name, or the row
    of a target, of which what is around it is asked."""

    track: list[int]
    start_ns: list[int]
    end_ns: list[int]
    kind: list[int]
    value: list[int]


def _in_order(trace: Trace, launches: Launches) -> _Items:
    slices, frames = trace.slices, trace.frames
    operators = slices.of(SliceKind.OPERATOR)
    calls = np.union1d(launches.calls, launches.call_of[launches.call_of != ABSENT])
    targets = np.union1d(calls, operators) if len(frames) else calls
    framing, operators = _enclosing(trace, targets, operators)
    rows = np.concatenate([operators, targets])
    kind = np.repeat([_OPERATOR, _TARGET], [len(operators), len(targets)])
    # An operator that is asked about comes before itself as one that is around others.
    rank = 2 * rows + (kind == _OPERATOR)
    label_kinds = np.array([label.kind for label in frames.labels], np.int64)
    columns = (
        np.concatenate([frames.track[framing], slices.track[rows]]),
        np.concatenate([frames.start_ns[framing], slices.start_ns[rows]]),
        np.concatenate([frames.end_ns[framing], slices.end_ns[rows]]),
        np.concatenate([label_kinds[frames.label[framing]], kind]),
        np.concatenate([frames.label[framing], slices.name[operators], targets]),
    )
    order = np.lexsort((np.append(np.full(len(framing), ABSENT), rank), -columns[2], columns[1], columns[0]))
    return _Items(*(column[order].tolist() for column in columns))


def _enclosing(trace: Trace, targets: Int64s, operators: Int64s) -> tuple[Int64s, Int64s]:
    """The frames and the operators within which a target begins: most have none, and need not be walked over."""
    slices, frames = trace.slices, trace.frames
    times = np.unique(slices.start_ns[targets])
    shift = len(times) + 1
    begun = np.sort(slices.track[targets] * shift + np.searchsorted(times, slices.start_ns[targets]))

    def encloses(track: Int64s, start_ns: Int64s, end_ns: Int64s) -> Bools:
        first = np.searchsorted(begun, track * shift + np.searchsorted(times, start_ns))
        last = np.searchsorted(begun, track * shift + np.searchsorted(times, end_ns))
        within: Bools = first < last
        return within

    around = encloses(slices.track[operators], slices.start_ns[operators], slices.end_ns[operators])
    return np.flatnonzero(encloses(frames.track, frames.start_ns, frames.end_ns)), operators[around]


def _walk(items: _Items, around: Around, nodes: Nodes) -> None:
    """Open intervals are kept as (end, number)."""
    current = ABSENT
    operators: list[tuple[int, int]] = []
    modules: list[tuple[int, int]] = []
    sources: list[tuple[int, int]] = []
    for track, start_ns, end_ns, kind, value in zip(*items, strict=True):
        if track != current:
            current, operators, modules, sources = track, [], [], []
        for stack in (operators, modules, sources):
            while stack and stack[-1][0] <= start_ns:
                stack.pop()
        if kind == _TARGET:
            for column, stack in zip(around, (operators, modules, sources), strict=True):
                if stack:
                    column[value] = stack[-1][1]
        elif kind == _OPERATOR:
            operators.append((end_ns, value))
        elif kind == FrameKind.SOURCE:
            sources.append((end_ns, value))
        else:
            outer = modules[-1][1] if modules and kind == FrameKind.MODULE else _TOP
            modules.append((end_ns, nodes.within(outer, value)))
