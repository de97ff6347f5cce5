"""Kernels in the order in which they were launched, each with what stood around its launch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from profiles.trace.callers import OpenOperators
from profiles.trace.causes import Cause, Causes
from profiles.trace.distinct import distinct
from profiles.trace.launches import Launches
from profiles.trace.model import ABSENT, Int64s, Trace


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """What stood around a launch: the operators open on its thread, the outermost first, and the nn.Module's path.
    Where it is `inferred` (of a graph's replay) it has the innermost operator alone."""

    operators: tuple[str, ...] = ()
    module: str | None = None
    inferred: bool = False


FEW = 8  # kernels of one call of an operator that belong together; more are a whole model, or a graph's replay
_REGION = re.compile(r"Torch-Compiled Region|CompiledFunction|CompiledFxGraph|TorchDynamo")
# What a hostile file can make of few events: 20,000 launches, each within operators and modules of its own.
_MOST_CALLERS, _DEEPEST, _LONGEST = 4_000, 16, 300


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
    stacks = np.append(opened.rows, np.full((len(opened.rows), 1), ABSENT), axis=1)[:, places]
    callers, caller_of = _callers(trace, stacks, causes, rows)
    calls, instance_of = _numbered(_small_calls(_without_regions(trace, stacks)))
    return Sequenced(
        rows=rows,
        callers=callers,
        caller_of=caller_of,
        instances=tuple(_cut(trace.names[number]) for number in trace.slices.name[calls].tolist()),
        instance_of=instance_of,
    )


def _callers(trace: Trace, stacks: Int64s, causes: Causes, kernels: Int64s) -> tuple[tuple[Caller, ...], Int64s]:
    """The distinct ones in order of first appearance, and the place among them of each kernel's, ABSENT for none."""
    names = np.where(stacks == ABSENT, ABSENT, trace.slices.name[stacks])
    different = distinct(*names, causes.of_row[kernels])
    callers: dict[Caller, int] = {}
    places = np.full(len(different.first), ABSENT, np.int64)
    for at in np.argsort(different.first).tolist():
        first = different.first[at]
        caller = _caller(trace, names[:, first].tolist(), causes.table[causes.of_row[kernels[first]]])
        if caller is not None and (caller in callers or len(callers) < _MOST_CALLERS):
            places[at] = callers.setdefault(caller, len(callers))
    return tuple(callers), places[different.which]


def _caller(trace: Trace, stack: Sequence[int], cause: Cause) -> Caller | None:
    """None where nothing is told."""
    operators = tuple(_cut(trace.names[number]) for number in stack if number != ABSENT)[-_DEEPEST:]
    if cause.inferred:
        operators = (_cut(cause.operator),) if cause.operator else ()
    module = _cut(cause.module) if cause.module else None
    return Caller(operators=operators, module=module, inferred=cause.inferred) if operators or module else None


def _cut(name: str) -> str:
    return name[:_LONGEST]


def _without_regions(trace: Trace, stacks: Int64s) -> Int64s:
    """Compiled code is marked as one call, whatever it runs: what it calls in turn is what belongs together."""
    numbers = np.unique(trace.slices.name[stacks[stacks != ABSENT]]).tolist()
    regions = [number for number in numbers if _REGION.search(trace.names[number])]
    return np.where((stacks != ABSENT) & np.isin(trace.slices.name[stacks], regions), ABSENT, stacks)


def _small_calls(stacks: Int64s) -> Int64s:
    """Of each column the first operator's row, from the outermost, that stands in at most `FEW` columns."""
    found = np.full(stacks.shape[1], ABSENT, np.int64)
    for level in reversed(stacks):
        counts = np.bincount(level[level != ABSENT], minlength=1)
        found = np.where((level != ABSENT) & (counts[level] <= FEW), level, found)
    return found


def _numbered(rows: Int64s) -> tuple[Int64s, Int64s]:
    """The distinct ones in order of first appearance, and the place among them of each, or ABSENT."""
    known = rows != ABSENT
    found, first, which = np.unique(rows[known], return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(first), np.int64)
    rank[order] = np.arange(len(first))
    numbers = np.full(len(rows), ABSENT, np.int64)
    numbers[known] = rank[which]
    return found[order], numbers
