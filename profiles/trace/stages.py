"""Which stages of an operation's maths a slice belongs to, by the marks that were open when it was launched."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from profiles.trace.counterparts import find_counterparts
from profiles.trace.launches import Launches
from profiles.trace.model import ABSENT, Int64s, SliceKind, Trace

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
    ends = slices.end_ns
    for row in slices.of(SliceKind.ANNOTATION).tolist():  # outer before inner, so that the inner mark stays
        name = trace.names[slices.name[row]]
        if name.startswith(_PREFIX):
            inside = slice(*np.searchsorted(slices.start_ns, (slices.start_ns[row], ends[row])))
            of_row[inside] = sets.setdefault(tuple(name.removeprefix(_PREFIX).split("+")), len(sets))
    started = launches.call_of != ABSENT
    of_row[np.isin(slices.kind, (SliceKind.KERNEL, SliceKind.MEMCPY, SliceKind.MEMSET))] = 0
    of_row[started] = of_row[launches.call_of[started]]
    if len(sets) > 1:
        counterparts = find_counterparts(trace, launches)
        unmarked = of_row[counterparts.rows] == 0
        of_row[counterparts.rows[unmarked]] = np.maximum(counterparts.agreed(of_row), 0)[unmarked]
    return Stages(tuple(sets), of_row)
