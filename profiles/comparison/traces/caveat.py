"""The one thing to know before trusting a comparison of traces: the worst doubt, or what makes them incomparable."""

from __future__ import annotations

from collections.abc import Sequence

from profiles.comparison import figures
from profiles.comparison.caveat import Caveat
from profiles.comparison.parts import Part, text
from profiles.comparison.traces.answer import baseline, called
from profiles.comparison.traces.difference import compare
from profiles.comparison.traces.document import Figure, TraceDifference, What
from profiles.comparison.traces.entry import Basis, ComparedTrace
from profiles.comparison.traces.figures import unstable

LITTLE_MATCHED = 0.5  # of the kernel time; a fusion leaves some open, another model most
OTHER_DEVICES = "Two models"

_Names = tuple[Part, Part]  # what the baseline and the candidate are called


def caveat(
    traces: Sequence[ComparedTrace],
    base_key: str | None = None,
    *,
    differences: Sequence[TraceDifference] | None = None,
) -> Caveat | None:
    """Of the first candidate that has the worst; None where there is nothing to compare."""
    if len(traces) < 2:
        return None
    base = baseline(traces, base_key)
    others = [trace for trace in traces if trace is not base]
    found = differences if differences is not None else [compare(base, other) for other in others]
    for look in (
        _unknown,
        _in_doubt,
        _other_vendor,
        _other_devices,
        _whole,
        _unstable,
        _little_matched,
        _time_in_doubt,
    ):
        for difference, other in zip(found, others, strict=True):
            said = look(difference, (called(base, traces), called(other, traces)))
            if said is not None:
                return said
    return _few_steps(found)


def _kernels(found: TraceDifference) -> tuple[Figure, Figure]:
    count = next(count for count in found.counts if count.what is What.KERNELS)
    return count.baseline, count.candidate


def _unknown(found: TraceDifference, names: _Names) -> Caveat | None:
    for figure, name in zip(_kernels(found), names, strict=True):
        if figure.value is None:
            why = f": {figure.doubt}" if figure.doubt else ""
            return Caveat("Records are missing", (text("The kernels of "), name, text(f" cannot be told{why}.")))
    return None


def _in_doubt(found: TraceDifference, names: _Names) -> Caveat | None:
    for figure, name in zip(_kernels(found), names, strict=True):
        if figure.doubt and not unstable(figure):
            return Caveat("Counts in doubt", (text("Of "), name, text(f": {figure.doubt}.")))
    return None


def _other_vendor(found: TraceDifference, _: _Names) -> Caveat | None:
    if found.incomparable is None:
        return None
    return Caveat("Two vendors", (text(f"Counts carry no verdict: {found.incomparable}."),))


def _other_devices(found: TraceDifference, _: _Names) -> Caveat | None:
    return None if found.other_devices is None else Caveat(OTHER_DEVICES, (text(f"{found.other_devices}."),))


def _whole(found: TraceDifference, _: _Names) -> Caveat | None:
    if found.basis is Basis.STEP:
        return None
    why = f" ({found.basis_reason})" if found.basis_reason else ""
    words = f"Of all that was recorded, not per step{why}. A longer recording has more of everything."
    return Caveat("Whole recordings", (text(words),))


def _unstable(found: TraceDifference, names: _Names) -> Caveat | None:
    for figure, name in zip(_kernels(found), names, strict=True):
        if unstable(figure):
            return Caveat(
                "Unstable counts",
                (text("The steps of "), name, text(f" launched {figure.low:,} to {figure.high:,} kernels.")),
            )
    return None


def _little_matched(found: TraceDifference, names: _Names) -> Caveat | None:
    """Where hardly anything of one has a counterpart in the other they may be of different models."""
    matching = found.matching
    if matching is None:
        return None
    sides = zip((matching.baseline, matching.candidate), names, strict=True)
    shares = [(side.matched_ns / side.total_ns, name) for side, name in sides if side.total_ns]
    if not shares or min(share for share, _ in shares) >= LITTLE_MATCHED:
        return None
    share, name = min(shares, key=lambda one: one[0])
    return Caveat(
        "Little in common",
        (
            text(f"{f'Only {figures.percent(share)}' if share else 'Nothing'} of the kernel time of "),
            name,
            text(" has a counterpart in the other: it works otherwise, or does other work."),
        ),
    )


def _time_in_doubt(found: TraceDifference, names: _Names) -> Caveat | None:
    for figure, name in zip((found.kernel_time.baseline, found.kernel_time.candidate), names, strict=True):
        if figure.doubt:
            return Caveat("Times in doubt", (text("Of "), name, text(f": {figure.doubt}.")))
    return None


def _few_steps(found: Sequence[TraceDifference]) -> Caveat | None:
    """Always so: a recording is one sample, however many steps it has."""
    spread = [_spread(figure) for one in found[:1] for figure in (one.kernel_time.baseline, one.kernel_time.candidate)]
    told = (
        f" Kernel times vary by {figures.percent(max(spread))} between steps of one recording."
        if max(spread, default=0)
        else ""
    )
    return Caveat("One recording each", (text(f"Ratios of times are facts of these recordings, no verdict.{told}"),))


def _spread(figure: Figure) -> float:
    if not figure.low or figure.high is None:
        return 0.0
    return figure.high / figure.low - 1
