"""When enough builds are measured: every comparison is known to half of the margin, or the budget is spent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from profiles.comparison.statistics import build_medians, half_width
from profiles.measure.candidate import Candidate
from profiles.measure.samples import Series


def decided(pairs: Iterable[tuple[Series, Series]], *, margin: float) -> bool:
    """Whether each pair's ratio is known so well: the 99 % half-width over its builds is at most half the margin.

    Without pairs there is nothing to decide.
    """
    return all(_known(baseline, candidate, within=margin / 2) for baseline, candidate in pairs)


def compared(
    candidates: Sequence[Candidate], *, lost: Callable[[Candidate], bool], baseline: str | None
) -> Iterator[tuple[Series, Series]]:
    """Each candidate with the baseline (or the first, where that is not among them), each twin with its own first.

    By the time that decides; those too slow for the plan's builds, and the lost, wait for nobody.
    """
    alive = [c for c in candidates if not lost(c) and c.times.pace is not None and c.times.pace.doubt is None]
    if not alive:
        return
    first = next((c for c in alive if c.variant == baseline), alive[0])
    twins = [(c, c.twin) for c in alive if c.twin is not None]
    for one, other in [*((first, c) for c in alive if c is not first), *twins]:
        name = "gpu_time" if one.times.principal == other.times.principal == "gpu_time" else "call_time"
        yield one.times.series[name], other.times.series[name]


def _known(baseline: Series, candidate: Series, *, within: float) -> bool:
    half = half_width(
        build_medians(baseline.values, baseline.builds), build_medians(candidate.values, candidate.builds)
    )
    return half is not None and half <= within
