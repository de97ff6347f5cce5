"""The kernels of a whole recording by name, each with the operators that launched it."""

from __future__ import annotations

import msgspec

from profiles.recorded import Attribution
from profiles.results import Role
from profiles.trace.attribution import joined
from profiles.trace.causes import find_causes
from profiles.trace.health import find_unlinked
from profiles.trace.launches import find_launches
from profiles.trace.model import SliceKind, Trace
from profiles.trace.names import short_names
from profiles.trace.roles import role_of
from profiles.trace.seen_kernels import attributed_kernels, grouped_kernels


class KernelRow(msgspec.Struct, frozen=True, kw_only=True):
    """`total_ns` is the sum of its durations. `launched_by` names the innermost operators that were open on the
    launching thread, `modules` the nn.Module paths and `sources` the lines of code there, the most frequent first.

    Of `inferred` of its calls they are those of the same kernels in an uncaptured pass; a graph's other kernels have
    those of the replay. `launch_calls` are the names of the calls that launched it."""

    name: str
    short_name: str
    role: Role
    calls: int
    total_ns: int
    launched_by: tuple[str, ...]
    attribution: Attribution
    modules: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    inferred: int = 0
    launch_calls: tuple[str, ...] = ()


def kernel_table(trace: Trace) -> tuple[KernelRow, ...]:
    """The longest in all first."""
    launches = find_launches(trace)
    grouped = grouped_kernels(trace)
    causes = find_causes(trace, launches).by_name(trace, trace.slices.of(SliceKind.KERNEL))
    names = [trace.names[number] for number in grouped.names.tolist()]
    ways = joined(trace, launches, find_unlinked(trace, launches))
    columns = (names, short_names(names), grouped.counts.tolist(), grouped.totals_ns(trace).tolist())
    rows = [
        KernelRow(
            name=name,
            short_name=short,
            role=role_of(name),
            calls=calls,
            total_ns=total_ns,
            launched_by=causes[name].operators,
            attribution=attributed,
            modules=causes[name].modules,
            sources=causes[name].sources,
            inferred=causes[name].inferred,
            launch_calls=causes[name].calls,
        )
        for name, short, calls, total_ns, attributed in zip(*columns, attributed_kernels(ways, grouped), strict=True)
    ]
    return tuple(sorted(rows, key=lambda row: (-row.total_ns, row.name)))
