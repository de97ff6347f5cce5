"""What one run's trace says per forward pass: counts, the kernels with their roles and stages, device time."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from profiles.recorded import KernelCauses, Recorded
from profiles.results import Counts, Finding, KernelUse
from profiles.trace.causes import Causes, find_causes
from profiles.trace.health import find_problems, find_unlinked, kernels_in
from profiles.trace.launches import CallKind, find_launches
from profiles.trace.model import ABSENT, Int64s, LaunchShape, SliceKind, Trace
from profiles.trace.names import short_names
from profiles.trace.operators import compute_operators, hides_compiled_kernels
from profiles.trace.recording import recorded
from profiles.trace.roles import role_of
from profiles.trace.stages import Stages, find_stages
from profiles.trace.steps import Step, count_calls, count_slices, find_steps

CPU = "cpu"
NO_STEPS = Finding(
    code="no_steps",
    message="no forward passes are marked in the recording, so that nothing can be said per forward pass",
    count=1,
    doubtful=("counts", "traced_device_time"),
)


class ForwardSummary(msgspec.Struct, frozen=True, kw_only=True):
    """`device_time_ns` holds each traced step's sum of kernel durations, in order; empty on a CPU, and where the
    kernels of a step cannot be told."""

    counts: Counts
    kernels: tuple[KernelUse, ...]
    device_time_ns: tuple[int, ...]
    findings: tuple[Finding, ...]
    recorded: Recorded | None = None
    causes: tuple[KernelCauses, ...] = ()


def per_forward(trace: Trace, *, device: str, causes: Causes | None = None) -> ForwardSummary:
    """Of the steps annotated `fusescope.forward#N`, else `ProfilerStep#N`; `device` is `cpu` or `cuda:N`. `causes` are
    the trace's, where they are found already."""
    found = causes or find_causes(trace, find_launches(trace))
    return _on_cpu(trace, found) if device == CPU else _on_gpu(trace, found)


@dataclass(frozen=True, slots=True)
class _Pass:
    """One forward pass: its slices in order of launch, and when each was launched."""

    rows: Int64s
    launched_ns: Int64s


def _on_gpu(trace: Trace, causes: Causes) -> ForwardSummary:
    launches = find_launches(trace)
    steps = find_steps(trace, launches)
    unlinked = find_unlinked(trace, launches)
    findings = find_problems(trace, launches, steps, unlinked)
    if not steps:
        return _nothing_told((*findings, NO_STEPS))
    kernels = [kernels_in(step, trace, launches, unlinked) for step in steps]
    told = [count for count in kernels if count is not None]
    kernel_launches = [count_calls(step, launches, CallKind.KERNEL) for step in steps]
    graph_launches = [count_calls(step, launches, CallKind.GRAPH) for step in steps]
    counts = Counts(
        launches=statistics.median_low(kernel_launches), graph_launches=statistics.median_low(graph_launches)
    )
    if len(told) < len(steps):
        return ForwardSummary(counts=counts, kernels=(), device_time_ns=(), findings=findings)
    copies = [count_slices(step, trace, SliceKind.MEMCPY) for step in steps]
    fills = [count_slices(step, trace, SliceKind.MEMSET) for step in steps]
    passes = [_Pass(step.slices, trace.slices.start_ns[launches.call_of[step.slices]]) for step in steps]
    unequal = _unequal(memcpy=copies, memset=fills, launches=kernel_launches, graph_launches=graph_launches)
    uses, rows = _uses(trace, passes, find_stages(trace, launches))
    caused = tuple(_caused(causes, mine) for mine in rows)
    return ForwardSummary(
        counts=msgspec.structs.replace(
            counts,
            kernels=statistics.median_low(told),
            memcpy=None if SliceKind.MEMCPY in trace.absent else statistics.median_low(copies),
            memset=None if SliceKind.MEMSET in trace.absent else statistics.median_low(fills),
            unstable=_unstable(told),
        ),
        kernels=uses,
        device_time_ns=tuple(_kernel_sum_ns(trace, step) for step in steps),
        findings=(*findings, *unequal),
        recorded=recorded(trace, launches, steps, unlinked, causes=caused),
        causes=caused,
    )


def _on_cpu(trace: Trace, causes: Causes) -> ForwardSummary:
    launches = find_launches(trace)
    steps = find_steps(trace, launches)
    if not steps:
        return _nothing_told((*trace.findings, NO_STEPS))
    hidden = sum(hides_compiled_kernels(trace, step.start_ns, step.end_ns) for step in steps)
    if hidden:
        return _nothing_told((*trace.findings, _hidden(hidden)))
    rows = [compute_operators(trace, step.start_ns, step.end_ns) for step in steps]
    counted = [len(found) for found in rows]
    passes = [_Pass(found, trace.slices.start_ns[found]) for found in rows]
    uses, used = _uses(trace, passes, find_stages(trace, launches))
    return ForwardSummary(
        counts=Counts(operators=statistics.median_low(counted), unstable=_unstable(counted)),
        kernels=uses,
        device_time_ns=(),
        findings=(*trace.findings, *_unequal(operators=counted)),
        causes=tuple(_caused(causes, mine) for mine in used),
    )


def _nothing_told(findings: tuple[Finding, ...]) -> ForwardSummary:
    return ForwardSummary(counts=Counts(), kernels=(), device_time_ns=(), findings=findings)


def _hidden(steps: int) -> Finding:
    return Finding(
        code="compiled_kernels_hidden",
        message="compiled code ran, but its C++ kernels left no record (inductor's option cpp.enable_kernel_profile was"
        " off)",
        count=steps,
        doubtful=("counts.operators",),
    )


def _unstable(counted: Sequence[int]) -> tuple[int, ...] | None:
    return tuple(counted) if len(set(counted)) > 1 else None


def _unequal(**numbers: list[int]) -> Iterator[Finding]:
    """Kernels apart: `find_problems` compares those."""
    for name, counted in numbers.items():
        if len(set(counted)) > 1:
            shown = ", ".join(map(str, counted))
            yield Finding(
                code="unstable_counts",
                message=f"{name} differ between the steps: {shown}",
                count=len(set(counted)),
                doubtful=(f"counts.{name}",),
            )


def _kernel_sum_ns(trace: Trace, step: Step) -> int:
    slices = trace.slices
    return int(slices.duration_ns[step.slices[slices.kind[step.slices] == SliceKind.KERNEL]].sum())


def _caused(causes: Causes, rows: Int64s) -> KernelCauses:
    found = causes.of(rows)
    return KernelCauses(
        operators=found.operators,
        modules=found.modules,
        sources=found.sources,
        inferred=bool(found.inferred),
        launch_calls=found.calls,
    )


def _uses(trace: Trace, passes: Sequence[_Pass], stages: Stages) -> tuple[tuple[KernelUse, ...], tuple[Int64s, ...]]:
    """By name and stages, in order of first launch; times are per pass, 0 in a pass that lacks the kernel. And the rows
    of each."""
    slices = trace.slices
    totals: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0] * len(passes))
    calls: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0] * len(passes))
    order: dict[tuple[int, int], int] = {}
    longest: dict[tuple[int, int], int] = {}
    rows: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, forward in enumerate(passes):
        for row in forward.rows[np.lexsort((slices.start_ns[forward.rows], forward.launched_ns))].tolist():
            key = (int(slices.name[row]), int(stages.of_row[row]))
            totals[key][number] += int(slices.duration_ns[row])
            calls[key][number] += 1
            order.setdefault(key, len(order))
            rows[key].append(row)
            if slices.duration_ns[row] > slices.duration_ns[longest.setdefault(key, row)]:
                longest[key] = row
    names = list(dict.fromkeys(name for name, _ in order))
    shorts = dict(zip(names, short_names([trace.names[name] for name in names]), strict=True))
    uses = tuple(
        KernelUse(
            name=trace.names[key[0]],
            short_name=shorts[key[0]],
            role=role_of(trace.names[key[0]]),
            stages=stages.sets[key[1]],
            calls=statistics.median_low(calls[key]),
            total_ns=round(statistics.median(totals[key])),
            min_ns=min(totals[key]),
            max_ns=max(totals[key]),
            position=position,
            registers=shape.registers,
            shared_bytes=shape.shared_bytes,
            grid=shape.grid,
            block=shape.block,
            occupancy=shape.occupancy,
        )
        for key, position in order.items()
        for shape in (_shape(trace, longest[key]),)
    )
    return uses, tuple(np.array(rows[key], np.int64) for key in order)


def _shape(trace: Trace, row: int) -> LaunchShape:
    number = int(trace.slices.shape[row])
    return LaunchShape() if number == ABSENT else trace.shapes[number]
