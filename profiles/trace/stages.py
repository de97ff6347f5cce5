"""Which stages of an operation's maths a slice belongs to, by the marks that were open when it was launched."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from profiles.trace.counterparts import find_counterparts
from profiles.trace.launches import Launches
from profiles.trace.model import ABSENT, Int64s, SliceKind, Trace
from profiles.trace.nesting import Nesting

_PREFIX = "fusescope.stage:"


class Stages(NamedTuple):
    """`of_row` gives each slice's place in `sets`, of which the first is empty: in no stage, or unknown."""

    sets: tuple[tuple[str, ...], ...]
    of_row: Int64s


def find_stages(trace: Trace, launches: Launches) -> Stages:
    """By the innermost mark `fusescope.stage:scores+mask` around the slice's start, or for a GPU slice around its
    call's. Marks count for all threads: a forward pass is driven by one. Slices without a mark, those of replays, have
    the stages of their counterparts."""
    slices = trace.slices
    sets: dict[tuple[str, ...], int] = {(): 0}
    of_row = np.zeros(len(slices), np.int64)
    marks, of_mark = _marks(trace, sets)
    if len(marks):
        begun = np.searchsorted(slices.start_ns[marks], slices.start_ns, "right")
        everywhere = np.zeros(len(slices), np.int64)
        open_ = Nesting(np.zeros(len(marks), np.int64), slices.ends_ns(marks))
        innermost = open_.open_at(track=everywhere, at_ns=slices.start_ns, before=begun)
        of_row = np.where(innermost == ABSENT, 0, of_mark[innermost])
    started = launches.call_of != ABSENT
    of_row[np.isin(slices.kind, (SliceKind.KERNEL, SliceKind.MEMCPY, SliceKind.MEMSET))] = 0
    of_row[started] = of_row[launches.call_of[started]]
    if len(sets) > 1:
        counterparts = find_counterparts(trace, launches)
        unmarked = of_row[counterparts.rows] == 0
        of_row[counterparts.rows[unmarked]] = np.maximum(counterparts.agreed(of_row), 0)[unmarked]
    return Stages(tuple(sets), of_row)


def _marks(trace: Trace, sets: dict[tuple[str, ...], int]) -> tuple[Int64s, Int64s]:
    """The rows of the marks in order, and the place in `sets` of what each says: it is added where it is not there."""
    rows = trace.slices.of(SliceKind.ANNOTATION)
    numbers = trace.slices.name[rows]
    of_name = np.zeros(len(trace.names), np.int64)
    _, first = np.unique(numbers, return_index=True)
    for number in numbers[np.sort(first)].tolist():
        name = trace.names[number]
        if name.startswith(_PREFIX):
            of_name[number] = sets.setdefault(tuple(name.removeprefix(_PREFIX).split("+")), len(sets))
    marks = rows[of_name[numbers] > 0]
    return marks, of_name[trace.slices.name[marks]]
