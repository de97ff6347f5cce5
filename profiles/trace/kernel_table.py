"""The kernels of a whole recording by name, each with the operators that launched it."""

from __future__ import annotations

import msgspec
import numpy as np

from profiles.recorded import Attribution
from profiles.results import Role
from profiles.trace.attribution import attribution
from profiles.trace.causes import find_causes
from profiles.trace.health import find_unlinked
from profiles.trace.launches import find_launches
from profiles.trace.model import SliceKind, Trace
from profiles.trace.names import short_names
from profiles.trace.roles import role_of


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
    unlinked = find_unlinked(trace, launches)
    slices = trace.slices
    kernels = slices.of(SliceKind.KERNEL)
    causes = find_causes(trace, launches).by_name(trace, kernels)
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
                launched_by=causes[trace.names[number]].operators,
                attribution=attribution(trace, launches, unlinked, mine),
                modules=causes[trace.names[number]].modules,
                sources=causes[trace.names[number]].sources,
                inferred=causes[trace.names[number]].inferred,
                launch_calls=causes[trace.names[number]].calls,
            )
        )
    return tuple(sorted(rows, key=lambda row: (-row.total_ns, row.name)))
