"""Figures of one trace on a basis: the middle step's with the bounds of all, or the whole recording's, with doubts."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence

from profiles.comparison.figures import percent
from profiles.comparison.traces.document import Figure, Side, TimeDifference, What
from profiles.comparison.traces.entry import Basis, ComparedTrace, without_gpu, working_steps, works
from profiles.results import Role
from profiles.trace.contents import SeenKernel, Work

NONE = Figure(value=0)
_NEARLY = 0.99
# By basis the names under which findings put each figure in doubt.
_COUNT_FIELDS: Mapping[tuple[Basis, What], tuple[str, ...]] = {
    (Basis.STEP, What.KERNELS): ("steps.kernels", "counts.kernels", "kernels"),
    (Basis.STEP, What.COPIES): ("counts.memcpy", "memcpy"),
    (Basis.STEP, What.FILLS): ("counts.memset", "memset"),
    (Basis.STEP, What.LAUNCHES): ("launches",),
    (Basis.STEP, What.GRAPH_LAUNCHES): ("launches", "graph_launches"),
    (Basis.WHOLE, What.KERNELS): ("kernels",),
    (Basis.WHOLE, What.COPIES): ("memcpy",),
    (Basis.WHOLE, What.FILLS): ("memset",),
    (Basis.WHOLE, What.LAUNCHES): ("launches",),
    (Basis.WHOLE, What.GRAPH_LAUNCHES): ("launches", "graph_launches"),
}
_TIME_FIELDS = {Basis.STEP: ("traced_device_time", "kernel_sum_ns"), Basis.WHOLE: ("kernel_sum_ns",)}
_SPAN_FIELDS = {Basis.STEP: ("traced_device_time", "gpu_span_ns"), Basis.WHOLE: ("gpu_span_ns",)}
# What these say is of the whole file: steps know what they launched, and each kernel has its own bounds.
_OUTSIDE_STEPS = frozenset({"launched_before_window", "unexplained_gaps"})
_UNSTABLE = "unstable_counts"
_WORK: Mapping[What, Callable[[Work], int | None]] = {
    What.KERNELS: lambda work: work.kernels,
    What.COPIES: lambda work: work.copies,
    What.FILLS: lambda work: work.fills,
    What.LAUNCHES: lambda work: work.launches,
    What.GRAPH_LAUNCHES: lambda work: work.graph_launches,
}
_ON_GPU = (What.KERNELS, What.COPIES, What.FILLS)
_SUMMARY: Mapping[What, str] = {
    What.KERNELS: "kernels",
    What.COPIES: "memcpy",
    What.FILLS: "memset",
    What.LAUNCHES: "launches",
    What.GRAPH_LAUNCHES: "graph_launches",
}


def count_figure(trace: ComparedTrace, what: What, basis: Basis) -> Figure:
    fields = _COUNT_FIELDS[basis, what]
    if basis is Basis.WHOLE:
        value = getattr(trace.summary, _SUMMARY[what])
        return _whole(trace, value, _doubt(trace, fields, basis), of_gpu=what in _ON_GPU)
    values = [_WORK[what](work) for work in works(trace)]
    steady = len(set(values)) < 2  # whatever a step that was passed over had
    return _count(values, _doubt(trace, fields, basis, but=_UNSTABLE if steady else None))


def kernel_time_figure(trace: ComparedTrace, basis: Basis) -> Figure:
    """The sum of the kernels' durations."""
    doubt = _doubt(trace, _TIME_FIELDS[basis], basis)
    if basis is Basis.WHOLE:
        return _whole(trace, trace.summary.kernel_sum_ns, doubt)
    return _middle([work.kernel_ns for work in works(trace)], doubt)


def span_figure(trace: ComparedTrace, basis: Basis) -> Figure:
    """From the first GPU slice's start to the last one's end."""
    doubt = _doubt(trace, _SPAN_FIELDS[basis], basis)
    if basis is Basis.WHOLE:
        return _whole(trace, trace.summary.gpu_span_ns, doubt)
    return _middle([work.span_ns for work in works(trace)], doubt)


def calls_figure(trace: ComparedTrace, kernels: Sequence[SeenKernel], basis: Basis) -> Figure:
    """Of all of `kernels` together: one of them, or those of a role."""
    doubt = _doubt(trace, _COUNT_FIELDS[basis, What.KERNELS], basis, but=_UNSTABLE)
    if basis is Basis.WHOLE:
        return Figure(value=sum(kernel.calls for kernel in kernels), doubt=doubt)
    return _count(_added(trace, [kernel.per_step for kernel in kernels]), doubt)


def time_figure(trace: ComparedTrace, kernels: Sequence[SeenKernel], basis: Basis) -> Figure:
    doubt = _doubt(trace, _TIME_FIELDS[basis], basis)
    if basis is Basis.WHOLE:
        return Figure(value=sum(kernel.total_ns for kernel in kernels), doubt=doubt)
    return _middle(_added(trace, [kernel.per_step_ns for kernel in kernels]), doubt)


def role_figures(trace: ComparedTrace, basis: Basis) -> tuple[tuple[Role, Figure], ...]:
    """The kernel time of each role, the longest first."""
    kernels = trace.contents.kernels if trace.contents is not None else ()
    roles = dict.fromkeys(kernel.role for kernel in kernels)
    found = [(role, time_figure(trace, [k for k in kernels if k.role is role], basis)) for role in roles]
    return tuple(
        sorted((pair for pair in found if pair[1].high or pair[1].value), key=lambda pair: -(pair[1].value or 0))
    )


def timed(baseline: Figure, candidate: Figure) -> TimeDifference:
    before, after = baseline.value, candidate.value
    return TimeDifference(
        baseline=baseline,
        candidate=candidate,
        difference_ns=None if before is None or after is None else after - before,
        ratio=after / before if before and after else None,
    )


def covered(side: Side) -> str:
    """The share of the time that is matched; `100 %` of nothing less than all of it."""
    if side.matched == side.kernels:
        return percent(1)
    share = side.matched_ns / side.total_ns if side.total_ns else side.matched / side.kernels
    return percent(share) if share < _NEARLY else f"over {percent(_NEARLY)}"


def unstable(figure: Figure) -> bool:
    return figure.low != figure.high


def _whole(trace: ComparedTrace, value: int | None, doubt: str | None, *, of_gpu: bool = True) -> Figure:
    """Not told, rather than 0, of a recording that has nothing of the GPU."""
    lost = without_gpu(trace) if of_gpu else None
    return Figure(value=value, doubt=doubt) if lost is None else Figure(value=None, doubt=lost)


def _added(trace: ComparedTrace, by_kernel: Sequence[Sequence[int]]) -> list[int | None]:
    held = trace.contents
    return [] if held is None else [sum(steps[at] for steps in by_kernel) for at in working_steps(held)]


def _count(values: Sequence[int | None], doubt: str | None) -> Figure:
    figure = _middle(values, doubt)
    if unstable(figure) and doubt is None:
        shown = ", ".join(f"{value:,}" for value in values[:8]) + (", …" if len(values) > 8 else "")
        return Figure(value=figure.value, low=figure.low, high=figure.high, doubt=f"unstable: {shown} in its steps")
    return figure


def _middle(values: Sequence[int | None], doubt: str | None) -> Figure:
    told = [value for value in values if value is not None]
    if not told or len(told) < len(values):
        return Figure(value=None, doubt=doubt)
    return Figure(value=statistics.median_low(told), low=min(told), high=max(told), doubt=doubt)


def _doubt(trace: ComparedTrace, fields: Sequence[str], basis: Basis, *, but: str | None = None) -> str | None:
    """Why the first of the fields' findings makes them doubtful."""
    for finding in trace.summary.health:
        outside = basis is Basis.STEP and finding.code in _OUTSIDE_STEPS
        if set(fields) & set(finding.doubtful) and not outside and finding.code != but:
            return finding.message
    return None
