"""The kernels of a recording by full name: calls, durations, steps, callers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from profiles.recorded import Attribution
from profiles.results import Role
from profiles.trace.attribution import Joined, joined
from profiles.trace.causes import NamedCauses
from profiles.trace.health import Unlinked
from profiles.trace.launches import Launches
from profiles.trace.model import Bools, Int64s, SliceKind, Trace
from profiles.trace.names import short_names
from profiles.trace.roles import role_of

MOST_TOLD = 32


class SeenKernel(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel (by full name) of a recording, over all of it: `calls`, and the durations' sum, least, greatest, and
    percentiles by nearest rank (of n durations in order the one at place ⌈p·n⌉, so always one that was recorded).

    `per_step` and `per_step_ns` are its calls launched within each step of `TraceContents.steps`, and their durations'
    sum; empty where the steps' counts are not told. `launched_by` names the innermost operators, `modules` the
    nn.Module paths and `sources` the lines of code around its launches; of `inferred` calls they are those of an
    uncaptured pass of the same kernels. `launch_calls` are the names of the calls that launched it. Each of these has
    at most 32, the most frequent first.
    """

    name: str
    short_name: str
    role: Role
    calls: int
    total_ns: int
    min_ns: int
    p50_ns: int
    p95_ns: int
    max_ns: int
    per_step: tuple[int, ...] = ()
    per_step_ns: tuple[int, ...] = ()
    launched_by: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    inferred: int = 0
    launch_calls: tuple[str, ...] = ()
    attribution: Attribution = Attribution()


@dataclass(frozen=True, slots=True)
class Grouped:
    """Kernels' rows ordered by name, then duration; `starts` and `ends` bound each of `names`."""

    rows: Int64s
    names: Int64s
    starts: Int64s
    ends: Int64s

    @property
    def counts(self) -> Int64s:
        return self.ends - self.starts

    def totals_ns(self, trace: Trace) -> Int64s:
        return np.add.reduceat(trace.slices.duration_ns[self.rows], self.starts) if len(self.rows) else self.starts


def seen_kernels(
    trace: Trace, launches: Launches, unlinked: Unlinked, *, causes: Mapping[str, NamedCauses], steps: Sequence[Int64s]
) -> tuple[SeenKernel, ...]:
    """The longest in all first, equal ones by name. `causes` are by kernels' names; `steps` are the GPU slices of each
    step, if they are told."""
    grouped = grouped_kernels(trace)
    durations = trace.slices.duration_ns[grouped.rows]
    counts, totals = grouped.counts, grouped.totals_ns(trace)
    names = [trace.names[number] for number in grouped.names.tolist()]
    attributed = attributed_kernels(joined(trace, launches, unlinked), grouped)
    calls, step_ns = _by_step(trace, grouped, steps)
    kernels = [
        SeenKernel(
            name=names[at],
            short_name=short,
            role=role_of(names[at]),
            calls=int(counts[at]),
            total_ns=int(totals[at]),
            min_ns=int(durations[grouped.starts[at]]),
            p50_ns=int(durations[grouped.starts[at] + _nearest_rank(counts[at], 50)]),
            p95_ns=int(durations[grouped.starts[at] + _nearest_rank(counts[at], 95)]),
            max_ns=int(durations[grouped.ends[at] - 1]),
            per_step=tuple(calls[:, at].tolist()),
            per_step_ns=tuple(step_ns[:, at].tolist()),
            launched_by=causes[names[at]].operators[:MOST_TOLD],
            modules=causes[names[at]].modules[:MOST_TOLD],
            sources=causes[names[at]].sources[:MOST_TOLD],
            inferred=causes[names[at]].inferred,
            launch_calls=causes[names[at]].calls[:MOST_TOLD],
            attribution=attributed[at],
        )
        for at, short in enumerate(short_names(names))
    ]
    return tuple(sorted(kernels, key=lambda kernel: (-kernel.total_ns, kernel.name)))


def _nearest_rank(count: int, percent: int) -> int:
    """The place, from 0, of a percentile among `count` ordered values."""
    return int(-(-count * percent // 100)) - 1


def grouped_kernels(trace: Trace) -> Grouped:
    slices = trace.slices
    rows = slices.of(SliceKind.KERNEL)
    rows = rows[np.lexsort((slices.duration_ns[rows], slices.name[rows]))]
    names, starts = np.unique(slices.name[rows], return_index=True)
    return Grouped(rows, names, starts, np.append(starts[1:], len(rows)) if len(rows) else starts)


def _by_step(trace: Trace, grouped: Grouped, steps: Sequence[Int64s]) -> tuple[Int64s, Int64s]:
    """Calls and their time, [step, name]. Sums of floats would lose ns from 104 days on: integers are added."""
    slices = trace.slices
    calls = np.zeros((len(steps), len(grouped.names)), np.int64)
    total_ns = np.zeros_like(calls)
    for number, rows in enumerate(steps):
        kernels = rows[slices.kind[rows] == SliceKind.KERNEL]
        at = np.searchsorted(grouped.names, slices.name[kernels])
        np.add.at(calls[number], at, 1)
        np.add.at(total_ns[number], at, slices.duration_ns[kernels])
    return calls, total_ns


def attributed_kernels(ways: Joined, grouped: Grouped) -> list[Attribution]:
    columns = [_added(way[grouped.rows], grouped) for way in ways]
    return [
        Attribution(exact=exact, by_graph=graph, inferred=earlier, unknown=unknown)
        for exact, graph, earlier, unknown in zip(*columns, strict=True)
    ]


def _added(chosen: Bools, grouped: Grouped) -> list[int]:
    counted: list[int] = np.add.reduceat(chosen.astype(np.int64), grouped.starts).tolist() if len(chosen) else []
    return counted
