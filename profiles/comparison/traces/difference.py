"""A candidate's trace against the baseline's: counts, times by role, kernels by name. No verdict: two recordings."""

from __future__ import annotations

from collections.abc import Sequence

from profiles.comparison.figures import listed
from profiles.comparison.traces.document import (
    Change,
    CountDifference,
    Figure,
    KernelDifference,
    RoleDifference,
    TimeDifference,
    TraceDifference,
    What,
)
from profiles.comparison.traces.entry import Basis, ComparedTrace, common_basis, models_of, vendor_of, without_gpu
from profiles.comparison.traces.figures import (
    NONE,
    calls_figure,
    count_figure,
    kernel_time_figure,
    span_figure,
    time_figure,
    timed,
)
from profiles.comparison.traces.matching import match
from profiles.results import Role
from profiles.trace.contents import SeenKernel
from profiles.trace.printable import printable

SAME_TIME = 1.05  # below this ratio, either way, a kernel's time is not called changed


def compare(baseline: ComparedTrace, candidate: ComparedTrace) -> TraceDifference:
    basis, reason = common_basis((baseline, candidate))
    vendors = vendor_of(baseline), vendor_of(candidate)
    told = without_gpu(baseline) is None and without_gpu(candidate) is None
    return TraceDifference(
        baseline=baseline.key,
        candidate=candidate.key,
        basis=basis,
        basis_reason=reason,
        incomparable=_incomparable(vendors),
        other_devices=_other_devices(baseline, candidate) if vendors[0] == vendors[1] else None,
        counts=tuple(_count(baseline, candidate, what, basis) for what in What),
        kernel_time=timed(kernel_time_figure(baseline, basis), kernel_time_figure(candidate, basis)),
        span=timed(span_figure(baseline, basis), span_figure(candidate, basis)),
        roles=_roles(baseline, candidate, basis) if told else (),
        kernels=_kernels(baseline, candidate, basis) if told else (),
        matching=match(baseline, candidate),
    )


def _incomparable(vendors: tuple[str | None, str | None]) -> str | None:
    if None in vendors or vendors[0] == vendors[1]:
        return None
    return (
        f"{vendors[0]} and {vendors[1]} count differently: a copy or fill of one may be a kernel of the other, and"
        " their libraries divide work otherwise"
    )


def _other_devices(baseline: ComparedTrace, candidate: ComparedTrace) -> str | None:
    """Unknown models are not said to differ."""
    models = models_of(baseline), models_of(candidate)
    if () in models or models[0] == models[1]:
        return None
    base, other = (printable(listed(names)) for names in models)
    return f"{baseline.key} was recorded on {base}, {candidate.key} on {other}: their times compare the devices too"


def _count(baseline: ComparedTrace, candidate: ComparedTrace, what: What, basis: Basis) -> CountDifference:
    return counted(what, count_figure(baseline, what, basis), count_figure(candidate, what, basis))


def counted(what: What, baseline: Figure, candidate: Figure) -> CountDifference:
    known = baseline.value is not None and candidate.value is not None
    return CountDifference(
        what=what,
        baseline=baseline,
        candidate=candidate,
        difference=(candidate.value or 0) - (baseline.value or 0) if known else None,
    )


def _roles(baseline: ComparedTrace, candidate: ComparedTrace, basis: Basis) -> tuple[RoleDifference, ...]:
    """Those that either side has, by the longer time of both."""
    found = []
    for role in Role:
        before, after = ([k for k in _seen(trace) if k.role is role] for trace in (baseline, candidate))
        kernels = counted(What.KERNELS, calls_figure(baseline, before, basis), calls_figure(candidate, after, basis))
        if any(figure.high or figure.value for figure in (kernels.baseline, kernels.candidate)):
            time = timed(time_figure(baseline, before, basis), time_figure(candidate, after, basis))
            found.append(RoleDifference(role=role, kernels=kernels, time=time))
    return tuple(sorted(found, key=lambda one: -max(one.time.baseline.value or 0, one.time.candidate.value or 0)))


def _kernels(baseline: ComparedTrace, candidate: ComparedTrace, basis: Basis) -> tuple[KernelDifference, ...]:
    before, after = ({kernel.name: kernel for kernel in _seen(trace)} for trace in (baseline, candidate))
    names = sorted(before.keys() | after.keys())
    pairs = [(before.get(name), after.get(name)) for name in names]
    found = [_kernel((baseline, candidate), pair, basis) for pair in pairs]
    return tuple(
        sorted(
            (one for one in found if one is not None),
            key=lambda one: (-abs(one.time.difference_ns or 0), -(one.time.baseline.value or 0), one.name),
        )
    )


def _kernel(
    traces: tuple[ComparedTrace, ComparedTrace], kernels: tuple[SeenKernel | None, SeenKernel | None], basis: Basis
) -> KernelDifference | None:
    """None of one that neither side's steps launched."""
    before, after = (
        NONE if kernel is None else calls_figure(trace, [kernel], basis)
        for trace, kernel in zip(traces, kernels, strict=True)
    )
    if not (_most(before) or _most(after)):
        return None
    times = [
        NONE if kernel is None else time_figure(trace, [kernel], basis)
        for trace, kernel in zip(traces, kernels, strict=True)
    ]
    time = timed(times[0], times[1])
    known = next(kernel for kernel in reversed(kernels) if kernel is not None)
    callers = next((kernel.launched_by for kernel in reversed(kernels) if kernel and kernel.launched_by), ())
    return KernelDifference(
        name=known.name,
        short_name=known.short_name,
        role=known.role,
        change=_change(before, after, time),
        calls=counted(What.KERNELS, before, after),
        time=time,
        per_call_ratio=_per_call(before, after, time),
        launched_by=callers,
    )


def _change(before: Figure, after: Figure, time: TimeDifference) -> Change:
    if not _most(before):
        return Change.ADDED
    if not _most(after):
        return Change.VANISHED
    if before.value != after.value:
        return Change.CHANGED
    return Change.EQUAL if _same_time(time) else Change.CHANGED


def _same_time(time: TimeDifference) -> bool:
    """Within 5 %, or the bounds of the steps meet."""
    if time.ratio is None or 1 / SAME_TIME <= time.ratio <= SAME_TIME:
        return True
    (low, high), (other_low, other_high) = _bounds(time.baseline), _bounds(time.candidate)
    return low <= other_high and other_low <= high


def _bounds(figure: Figure) -> tuple[int, int]:
    value = figure.value or 0
    return (value if figure.low is None else figure.low), (value if figure.high is None else figure.high)


def _most(figure: Figure) -> int:
    return _bounds(figure)[1]


def _per_call(before: Figure, after: Figure, time: TimeDifference) -> float | None:
    if time.ratio is None or not before.value or not after.value:
        return None
    return time.ratio * before.value / after.value


def _seen(trace: ComparedTrace) -> Sequence[SeenKernel]:
    return trace.contents.kernels if trace.contents is not None else ()
