"""What a continuous integration may fail on: kernels per step that a change added, lost or calls otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

from profiles.comparison.figures import listed
from profiles.comparison.traces.document import Change, CountDifference, KernelDifference, TraceDifference, What
from profiles.comparison.traces.entry import Basis
from profiles.comparison.traces.figures import unstable

_MOST_NAMED = 3


class FailOn(StrEnum):
    """`added`, `vanished`: a kernel's name. `calls`: how often a kernel that both have is called. `kernels`: how many
    there are, whichever; `more-kernels`: more of them (a lost fusion); `launches`: calls that launch, graphs too."""

    ADDED = "added"
    VANISHED = "vanished"
    CALLS = "calls"
    KERNELS = "kernels"
    MORE_KERNELS = "more-kernels"
    LAUNCHES = "launches"


class GateError(Exception):
    """It cannot be told whether it holds; one line says why. Never taken for passing."""


def failures(found: TraceDifference, on: frozenset[FailOn]) -> tuple[str, ...]:
    """One line for each that holds, in the order of `FailOn`. GateError where one of them cannot be told."""
    if found.incomparable is not None:
        raise GateError(f"counts carry no verdict: {found.incomparable}")
    if found.basis is not Basis.STEP:
        raise GateError(f"kernels per step are not known of {found.basis_reason}")
    counts = {counted.what: counted for counted in found.counts}
    _check(counts[What.KERNELS], found)
    told = [_failure(found, counts, one) for one in FailOn if one in on]
    return tuple(line for line in told if line)


def _failure(found: TraceDifference, counts: dict[What, CountDifference], on: FailOn) -> str | None:
    if on is FailOn.ADDED:
        return _named("added", found.of(Change.ADDED))
    if on is FailOn.VANISHED:
        return _named("vanished", found.of(Change.VANISHED))
    if on is FailOn.CALLS:
        return _calls(found)
    if on is FailOn.LAUNCHES:
        launches = [counts[what] for what in (What.LAUNCHES, What.GRAPH_LAUNCHES)]
        for one in launches:
            _check(one, found)
        parts = [_counted(one) for one in launches]
        return "; ".join(part for part in parts if part) or None
    kernels = counts[What.KERNELS]
    rose = (kernels.difference or 0) > 0
    return _counted(kernels) if on is FailOn.KERNELS or rose else None


def _check(counted: CountDifference, found: TraceDifference) -> None:
    for key, figure in ((found.baseline, counted.baseline), (found.candidate, counted.candidate)):
        if unstable(figure):
            had = "launched" if counted.what is What.KERNELS else "have"
            raise GateError(f"the steps of {key} {had} {figure.low:,} to {figure.high:,} {counted.what}")
        if figure.doubt or figure.value is None:
            raise GateError(f"the counts of {key} are in doubt: {figure.doubt or 'not known'}")


def _named(what: str, kernels: tuple[KernelDifference, ...]) -> str | None:
    return _told(what, kernels, lambda kernel: f"{_figure_of(kernel, what):,}×")


def _figure_of(kernel: KernelDifference, what: str) -> int:
    """Of a step with the most of it: where not all have it, the middle one may have none."""
    side = kernel.calls.candidate if what == "added" else kernel.calls.baseline
    return side.high or side.value or 0


def _calls(found: TraceDifference) -> str | None:
    for kernel in (*found.of(Change.CHANGED), *found.of(Change.EQUAL)):
        for key, figure in ((found.baseline, kernel.calls.baseline), (found.candidate, kernel.calls.candidate)):
            if unstable(figure):
                raise GateError(f"the steps of {key} call {kernel.short_name} {figure.low:,} to {figure.high:,} times")
    changed = [kernel for kernel in found.of(Change.CHANGED) if kernel.calls.difference]
    return _told("calls", changed, lambda kernel: f"{kernel.calls.baseline.value:,} → {kernel.calls.candidate.value:,}")


def _told(what: str, kernels: Sequence[KernelDifference], calls: Callable[[KernelDifference], str]) -> str | None:
    """Those with the largest difference of time, by their short names; None where there are none."""
    if not kernels:
        return None
    names = [f"{kernel.short_name} ({calls(kernel)})" for kernel in kernels[:_MOST_NAMED]]
    more = len(kernels) - len(names)
    return f"{what}, per step: {listed([*names, *([f'{more:,} more'] if more else [])])}"


def _counted(counted: CountDifference) -> str | None:
    """None where it is as before; what one side does not tell cannot be judged."""
    if counted.difference is None:
        raise GateError(f"{counted.what} per step are not known of both")
    if not counted.difference:
        return None
    return f"{counted.what}: {counted.baseline.value:,} → {counted.candidate.value:,} per step"
