"""The kernels of a whole recording by name, each with the operators that launched it."""

from __future__ import annotations

from collections import Counter, defaultdict

import msgspec
import numpy as np

from profiles.recorded import Attribution
from profiles.results import Role
from profiles.trace.attribution import attribution
from profiles.trace.health import find_unlinked
from profiles.trace.launches import Launches, find_launches
from profiles.trace.model import ABSENT, Int64s, SliceKind, Trace
from profiles.trace.names import short_names
from profiles.trace.roles import role_of


class KernelRow(msgspec.Struct, frozen=True, kw_only=True):
    """`total_ns` is the sum of its durations. `launched_by` names the innermost operators that were open on the
    launching thread, the most frequent first; a graph's kernels have those of the replay, not of the capture."""

    name: str
    short_name: str
    role: Role
    calls: int
    total_ns: int
    launched_by: tuple[str, ...]
    attribution: Attribution


def kernel_table(trace: Trace) -> tuple[KernelRow, ...]:
    """The longest in all first."""
    launches = find_launches(trace)
    unlinked = find_unlinked(trace, launches)
    slices = trace.slices
    kernels = slices.of(SliceKind.KERNEL)
    operators = operators_by_name(trace, launches, kernels)
    numbers = np.unique(slices.name[kernels]).tolist()
    shorts = short_names([trace.names[number] for number in numbers])
    rows = []
    for number, short in zip(numbers, shorts, strict=True):
        mine = kernels[slices.name[kernels] == number]
        rows.append(
            KernelRow(
                name=trace.names[number],
                short_name=short,
                role=role_of(trace.names[number]),
                calls=len(mine),
                total_ns=int(slices.duration_ns[mine].sum()),
                launched_by=operators[trace.names[number]],
                attribution=attribution(trace, launches, unlinked, mine),
            )
        )
    return tuple(sorted(rows, key=lambda row: (-row.total_ns, row.name)))


def operators_by_name(trace: Trace, launches: Launches, rows: Int64s) -> dict[str, tuple[str, ...]]:
    """By the name of the GPU slices `rows` the innermost operators that launched them, the most frequent first."""
    operator_of = _innermost_operators(trace, np.unique(launches.call_of[rows]))
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for name, call in zip(trace.slices.name[rows].tolist(), launches.call_of[rows].tolist(), strict=True):
        counted[trace.names[name]].update([operator_of[call]] if call in operator_of else [])
    return {name: tuple(operator for operator, _ in found.most_common()) for name, found in counted.items()}


def _innermost_operators(trace: Trace, calls: Int64s) -> dict[int, str]:
    """By a call's row the name of the operator around it on its thread, where there is one. Rows come ordered by
    start, the longest first, so that an operator comes before all that lies within it."""
    slices = trace.slices
    calls = calls[calls != ABSENT]
    rows = np.union1d(slices.of(SliceKind.OPERATOR), calls)
    launching = set(calls.tolist())
    found: dict[int, str] = {}
    open_rows: dict[int, list[tuple[int, int]]] = {}  # by thread: (end, name) of the operators that are open
    columns = (slices.track[rows], slices.start_ns[rows], slices.end_ns[rows], slices.name[rows])
    for row, track, start_ns, end_ns, name in zip(rows.tolist(), *(c.tolist() for c in columns), strict=True):
        stack = open_rows.setdefault(track, [])
        while stack and stack[-1][0] <= start_ns:
            stack.pop()
        if row not in launching:
            stack.append((end_ns, name))
        elif stack:
            found[row] = trace.names[stack[-1][1]]
    return found
