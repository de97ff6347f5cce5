"""Kernels in the order in which they were launched, each with what stood around its launch."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np

from profiles.trace.callers import OpenOperators
from profiles.trace.causes import Causes
from profiles.trace.launches import Launches
from profiles.trace.model import ABSENT, Int64s, Trace


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """What stood around a launch: the operators open on its thread, the outermost first, and the nn.Module's path."""

    operators: tuple[str, ...] = ()
    module: str | None = None


FEW = 8  # kernels of one call of an operator that belong together; more are a whole model, or a graph's replay


@dataclass(frozen=True, slots=True)
class Sequenced:
    """Kernels' rows by launch; beside each the place in `callers`, and in `instances` (operators' names, one for each
    call) that of the outermost call around its launch which has no more than `FEW` kernels here; or ABSENT."""

    rows: Int64s
    callers: tuple[Caller, ...]
    caller_of: Int64s
    instances: tuple[str, ...]
    instance_of: Int64s


def sequenced(
    trace: Trace, launches: Launches, kernels: Int64s, *, opened: OpenOperators, causes: Causes, most: int
) -> Sequenced:
    """The first `most` of them, whose calls `opened` has. Those of one launch, and those whose launch is not in the
    file, come by their own start."""
    starts = trace.slices.start_ns
    call_of = launches.call_of[kernels]
    launched_ns = np.where(call_of == ABSENT, starts[kernels], starts[call_of])
    order = np.lexsort((starts[kernels], launched_ns))[:most]
    rows, places = kernels[order], opened.places(call_of[order])
    used, which = np.unique(places, return_inverse=True)
    stacks = np.append(opened.rows, np.full((len(opened.rows), 1), ABSENT), axis=1)[:, used]
    names = np.where(stacks == ABSENT, ABSENT, trace.slices.name[stacks])
    modules, module_of = _modules(causes, np.append(opened.calls, ABSENT)[used])
    distinct, caller = np.unique(np.vstack([names, module_of]), axis=1, return_inverse=True)
    callers = [
        Caller(operators=_named(trace, operators), module=modules[module]) for *operators, module in distinct.T.tolist()
    ]
    calls, instance_of = _numbered(_small_calls(stacks[:, which]))
    return Sequenced(
        rows=rows,
        callers=tuple(callers),
        caller_of=_without_empty(callers, caller.reshape(-1)[which]),
        instances=tuple(trace.names[number] for number in trace.slices.name[calls].tolist()),
        instance_of=instance_of,
    )


def _modules(causes: Causes, calls: Int64s) -> tuple[list[str | None], Int64s]:
    """The module around each call (a row, ABSENT for none) by its place in the list."""
    numbers: dict[str | None, int] = {None: 0}
    of_call = [causes.table[causes.of_row[call]].module if call != ABSENT else None for call in calls.tolist()]
    places = [numbers.setdefault(module, len(numbers)) for module in of_call]
    return list(numbers), np.array(places, np.int64)


def _small_calls(stacks: Int64s) -> Int64s:
    """Of each column the first operator's row, from the outermost, that stands in at most `FEW` columns."""
    found = np.full(stacks.shape[1], ABSENT, np.int64)
    for level in reversed(stacks):
        _, which, counts = np.unique(level, return_inverse=True, return_counts=True)
        found = np.where((level != ABSENT) & (counts[which] <= FEW), level, found)
    return found


def _named(trace: Trace, numbers: list[int]) -> tuple[str, ...]:
    return tuple(trace.names[number] for number in numbers if number != ABSENT)


def _without_empty(callers: list[Caller], caller_of: Int64s) -> Int64s:
    told = np.array([bool(caller.operators or caller.module) for caller in callers], np.bool_)
    return np.where(told[caller_of], caller_of, ABSENT) if len(callers) else caller_of


def _numbered(rows: Int64s) -> tuple[Int64s, Int64s]:
    """The distinct ones in order of first appearance, and the place among them of each, or ABSENT."""
    known = rows != ABSENT
    distinct, first, which = np.unique(rows[known], return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(first), np.int64)
    rank[order] = np.arange(len(first))
    numbers = np.full(len(rows), ABSENT, np.int64)
    numbers[known] = rank[which]
    return distinct[order], numbers
