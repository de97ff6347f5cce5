"""The sentence that answers a comparison of traces. Ratios are facts of recordings, no verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from profiles.comparison import figures
from profiles.comparison.answer import Answer
from profiles.comparison.parts import Part, mono, muted, strong, text
from profiles.comparison.traces.difference import compare
from profiles.comparison.traces.document import Change, CountDifference, Figure, TraceDifference, What
from profiles.comparison.traces.entry import Basis, ComparedTrace, TraceT
from profiles.comparison.traces.figures import covered, unstable
from profiles.trace.printable import printable

_TOLD = 0.001  # ratios beyond are of things that are not alike


def answer(
    traces: Sequence[ComparedTrace],
    base_key: str | None = None,
    *,
    differences: Sequence[TraceDifference] | None = None,
) -> Answer:
    """`differences` are those of the candidates, in order, where they are known already."""
    if not traces:
        return Answer((text("No trace is here yet."),))
    base = baseline(traces, base_key)
    others = [trace for trace in traces if trace is not base]
    if not others:
        return Answer((text("Only "), called(base, traces), text(" is here: nothing to compare it with.")))
    found = differences if differences is not None else [compare(base, other) for other in others]
    sentences = [
        _sentence(difference, called(base, traces), called(other, traces), whole=len(others) == 1)
        for difference, other in zip(found, others, strict=True)
    ]
    return Answer(tuple(part for at, sentence in enumerate(sentences) for part in (_space(at), *sentence)))


def baseline(traces: Sequence[TraceT], base_key: str | None) -> TraceT:
    """The trace with that key, else the first."""
    return next((trace for trace in traces if trace.key == base_key), traces[0])


def called(trace: ComparedTrace, traces: Sequence[ComparedTrace]) -> Part:
    """What people call it, with its key where two are called alike."""
    shared = sum(other.label == trace.label for other in traces) > 1
    return mono(f"{printable(trace.label)}{f' ({trace.key})' if shared else ''}")


def _space(at: int) -> Part:
    return text(" " if at else "")


def _sentence(found: TraceDifference, base: Part, other: Part, *, whole: bool) -> tuple[Part, ...]:
    kernels = next(count for count in found.counts if count.what is What.KERNELS)
    time = _time(found)
    names = _names(found, base) if whole else ()
    return (
        *_counts(kernels, base, other, found.basis),
        *((text("; "), *time) if time else ()),
        *((text(". "), *names) if names else ()),
        text("."),
    )


def _counts(kernels: CountDifference, base: Part, other: Part, basis: Basis) -> tuple[Part, ...]:
    per = " per step" if basis is Basis.STEP else ""
    before, after = kernels.baseline.value, kernels.candidate.value
    if before is None and after is None:
        return text("The kernels of "), base, text(" and "), other, text(" cannot be told")
    if before is None or after is None:
        known, unknown = (base, other) if after is None else (other, base)
        number = figures.count((before if after is None else after) or 0, "kernel")
        verb = "runs" if per else "recorded"
        return known, text(f" {verb} {number}{per}; those of "), unknown, text(" cannot be told")
    verb = " runs " if basis is Basis.STEP else " recorded "
    shown = f"{figures.count(after, 'kernel')}{per}{_unstable(kernels.candidate)}"
    if before == after:
        return other, text(f"{verb}{shown}, as "), base, text(f" does{_unstable(kernels.baseline)}" if per else " did")
    return other, text(f"{verb}{shown} where "), base, text(f"{verb}{before:,}{_unstable(kernels.baseline)}")


def _unstable(figure: Figure) -> str:
    return f" ({figure.low:,}–{figure.high:,})" if unstable(figure) else ""


def _time(found: TraceDifference) -> tuple[Part, ...]:
    time = found.kernel_time
    if time.ratio is None or time.baseline.value is None or time.candidate.value is None:
        return ()
    if not _TOLD <= time.ratio <= 1 / _TOLD:
        told = f"its kernels take {figures.prose_time(time.candidate.value)}"
        return (text(f"{told}, where the other's take {figures.prose_time(time.baseline.value)}"),)
    aside = f" ({figures.prose_time(time.candidate.value)} against {figures.prose_time(time.baseline.value)})"
    return text("its kernel time is "), strong(figures.ratio(time.ratio)), muted(aside)


def _names(found: TraceDifference, base: Part) -> tuple[Part, ...]:
    """By name, or by place where another vendor's names tell nothing; and where the largest difference lies."""
    if not found.kernels:
        return ()
    told = _matched(found, base) if found.incomparable is not None else (text(_changes(found)),)
    roles = [role for role in found.roles if role.time.difference_ns]
    if not roles:
        return told
    largest = max(roles, key=lambda role: abs(role.time.difference_ns or 0))
    return (
        *told,
        text(f"; the largest difference is {largest.role}: "),
        strong(signed_time(largest.time.difference_ns or 0)),
    )


def _changes(found: TraceDifference) -> str:
    vanished, added = found.of(Change.VANISHED), found.of(Change.ADDED)
    calls = [kernel for kernel in found.of(Change.CHANGED) if kernel.calls.difference]
    if not (vanished or added or calls):
        if found.basis is not Basis.STEP:
            return "Both hold the same kernels"
        steady = not any(unstable(side) for one in found.kernels for side in (one.calls.baseline, one.calls.candidate))
        return f"Both run the same kernels{', equally often' if steady else ''}"
    clauses = [
        f"{figures.count(len(vanished), 'kernel')} vanished" if vanished else "",
        f"{len(added):,} {'is' if len(added) == 1 else 'are'} new" if added and vanished else "",
        f"{figures.count(len(added), 'kernel')} {'is' if len(added) == 1 else 'are'} new"
        if added and not vanished
        else "",
        f"{figures.count(len(calls), 'kernel')} changed in calls" if calls else "",
    ]
    return figures.listed([clause for clause in clauses if clause])


def _matched(found: TraceDifference, base: Part) -> tuple[Part, ...]:
    matching = found.matching
    if matching is None or not matching.candidate.matched:
        return (text("None of its kernels could be matched with one of "), base)
    side, other = matching.candidate, matching.baseline
    if side.matched == side.kernels and other.matched == other.kernels:
        count = f"all {figures.count(side.kernels, 'kernel')}" if side.kernels == other.kernels else "all kernels"
        return text(f"By their places {count} match those of "), base
    return (
        text(f"{side.matched:,} of its {side.kernels:,} kernels, {covered(side)} of their time, match "),
        text(f"{other.matched:,} of the {other.kernels:,} of "),
        base,
        text(" by their places"),
    )


def signed_time(difference_ns: int) -> str:
    """`+76.2 µs`, `−312.0 µs`."""
    return f"{'+' if difference_ns > 0 else '−' if difference_ns < 0 else '±'}{figures.prose_time(abs(difference_ns))}"
