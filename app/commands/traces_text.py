"""What `fusescope compare` prints of traces for people: the answer, facts, differences, matches, ranks, doubts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.commands.output import table
from profiles.comparison.figures import prose_time, ratio
from profiles.comparison.traces.answer import signed_time
from profiles.comparison.traces.document import (
    Change,
    ComparedTraces,
    Figure,
    Ground,
    JobRanks,
    KernelDifference,
    Match,
    MatchedKernel,
    Matching,
    RankFacts,
    TimeDifference,
    TraceDifference,
    TraceFacts,
)
from profiles.comparison.traces.entry import Basis
from profiles.comparison.traces.figures import covered, unstable
from profiles.trace.printable import printable

UNKNOWN, DOUBT = "–", "?"
MOST_ROWS = 20
NAMES, NAME = 3, 44


def described(told: ComparedTraces) -> list[str]:
    lines = [*_facts(told.traces), "", told.answer]
    if told.caveat is not None:
        lines.append(told.caveat)
    for difference in told.differences:
        lines += ["", *_difference(difference)]
    for job in told.jobs:
        lines += ["", *_job(job)]
    return [*lines, *_doubts(told)]


def _facts(traces: Sequence[TraceFacts]) -> list[str]:
    rows = [
        (
            trace.key + ("*" if trace.baseline else ""),
            printable(trace.label),
            printable(", ".join(trace.devices)) or UNKNOWN,
            _basis(trace),
            *(_count(figure) for figure in _counts(trace)),
            _time(trace.kernel_time),
            _time(trace.span),
        )
        for trace in traces
    ]
    titles = ("", "trace", "device", "of", "kernels", "copies", "fills", "launches", "graphs", "kernel time", "span")
    return table(titles, rows, right=(False, False, False, False, *[True] * 7))


def _basis(trace: TraceFacts) -> str:
    if trace.basis is Basis.WHOLE:
        return "the whole"
    return "1 step" if trace.steps == 1 else f"{trace.steps:,} steps, each"


def _counts(trace: TraceFacts) -> tuple[Figure, ...]:
    return trace.kernels, trace.copies, trace.fills, trace.launches, trace.graph_launches


def _difference(found: TraceDifference) -> list[str]:
    lines = [f"{found.candidate} against {found.baseline}, {found.basis}"]
    if found.basis_reason:
        lines[0] += f" ({found.basis_reason})"
    if found.other_devices:
        lines.append(f"{found.other_devices}.")
    lines += _roles(found)
    if found.matching is not None and not _all_by_name(found.matching):
        lines += ["", *_matching(found, found.matching)]
    return [*lines, *_kernels(found)]


def _all_by_name(matching: Matching) -> bool:
    whole = all(side.matched == side.kernels for side in (matching.baseline, matching.candidate))
    return whole and all(one.ground is Ground.NAME for one in matching.matches)


def _roles(found: TraceDifference) -> list[str]:
    rows = [
        (
            str(role.role),
            _count(role.kernels.baseline),
            _count(role.kernels.candidate),
            *_times(role.time),
        )
        for role in found.roles
    ]
    titles = ("role", f"kernels {found.baseline}", found.candidate, *_time_titles(found))
    return table(titles, rows, right=(False, *[True] * 6)) if rows else []


def _time_titles(found: TraceDifference) -> tuple[str, str, str, str]:
    return f"time {found.baseline}", found.candidate, "difference", "ratio"


def _times(time: TimeDifference) -> tuple[str, str, str, str]:
    difference = UNKNOWN if time.difference_ns is None else signed_time(time.difference_ns)
    return _time(time.baseline), _time(time.candidate), difference, _ratio(time.ratio)


def _kernels(found: TraceDifference) -> list[str]:
    """Those that differ, the most time first; equal ones as a number. Of two vendors, whose names tell little, all."""
    if found.incomparable is not None and found.matching is not None:
        return [
            "",
            f"by name: {', '.join(f'{len(found.of(change)):,} {change}' for change in Change)} (--json lists them)",
        ]
    differing = [kernel for kernel in found.kernels if kernel.change is not Change.EQUAL]
    equal = len(found.kernels) - len(differing)
    lines = [""] if found.kernels else []
    if differing:
        rows = [_kernel(kernel) for kernel in differing[:MOST_ROWS]]
        titles = ("kernel by name", "role", "", f"calls {found.baseline}", found.candidate, *_time_titles(found))
        lines += table((*titles, "per call"), rows, right=(False, False, False, *[True] * 7))
        lines += _more(len(differing))
    if equal:
        kept = "1 kernel is" if equal == 1 else f"{equal:,} kernels are"
        lines.append(f"{kept} equal in calls, and in time within 5 % or the spread of the steps")
    return lines


def _kernel(kernel: KernelDifference) -> tuple[str, ...]:
    return (
        kernel.short_name,
        str(kernel.role),
        str(kernel.change),
        _count(kernel.calls.baseline),
        _count(kernel.calls.candidate),
        *_times(kernel.time),
        _ratio(kernel.per_call_ratio),
    )


def _matching(found: TraceDifference, matching: Matching) -> list[str]:
    told = [
        f"{key}: {side.matched:,} of {side.kernels:,} kernels ({covered(side)} of the time)"
        for key, side in ((found.baseline, matching.baseline), (found.candidate, matching.candidate))
    ]
    lines = [f"matched by place, {', '.join(told)}"]
    if matching.ambiguous:
        lines[0] += f"; {matching.ambiguous:,} left open, as they could be matched otherwise too"
    if matching.cut:
        lines[0] += f"; the last {matching.cut:,} places were not looked at"
    rows = [_match(match) for match in matching.matches[:MOST_ROWS]]
    titles = ("operator", "places", f"kernels of {found.baseline}", f"of {found.candidate}", *_time_titles(found))
    right = (False, True, False, False, True, True, True, True, False)
    return [*lines, *table((*titles, "because of"), rows, right=right), *_more(len(matching.matches))]


def _match(match: Match) -> tuple[str, ...]:
    where = printable(match.operator or match.module or "")[-NAME:] or UNKNOWN
    sides = _named(match.baseline), _named(match.candidate)
    return where, f"{match.places:,}", *sides, *_times(match.time), str(match.ground)


def _named(kernels: Sequence[MatchedKernel]) -> str:
    shown = " + ".join(kernel.short_name for kernel in kernels[:NAMES])
    return f"{shown} + {len(kernels) - NAMES:,} more" if len(kernels) > NAMES else shown


def _more(rows: int) -> list[str]:
    return [f"… and {rows - MOST_ROWS:,} more (--json has all)"] if rows > MOST_ROWS else []


def _job(job: JobRanks) -> list[str]:
    backend = f", {printable(job.backend)}" if job.backend else ""
    rows = [_rank(rank) for rank in job.ranks]
    titles = ("rank", "", "host", "kernel busy", "idle", "communication", "of it overlapped", "step", "without exposed")
    return [
        f"{job.here}{backend} ({job.grouped_by}); {job.missing:,} missing",
        *table(titles, rows, right=(True, False, False, *[True] * 6)),
        job.words,
    ]


def _rank(rank: RankFacts) -> tuple[str, ...]:
    times = (rank.kernel_busy_ns, rank.idle_ns, rank.communication_ns, rank.overlapped_ns)
    steps = (rank.step_ns, rank.own_step_ns)
    host = printable(rank.host or "") or UNKNOWN
    return f"{rank.rank:,}", rank.key, host, *map(_ns, times), *map(_ns, steps)


def _doubts(told: ComparedTraces) -> list[str]:
    """The reason of each mark, once."""
    reasons = list(dict.fromkeys(_reasons(told)))
    return (
        ["", f"{DOUBT} marks numbers in doubt:", *(f"  {printable(reason)}" for reason in reasons)] if reasons else []
    )


def _reasons(told: ComparedTraces) -> Iterator[str]:
    for trace in told.traces:
        for figure in (*_counts(trace), trace.kernel_time, trace.span):
            if figure.doubt:
                yield f"{trace.key}: {figure.doubt}"
    for found in told.differences:
        for kernel in found.kernels[:MOST_ROWS]:
            for key, figure in ((found.baseline, kernel.calls.baseline), (found.candidate, kernel.calls.candidate)):
                if figure.doubt:
                    yield (
                        f"{key}: {kernel.short_name}, {figure.doubt}" if unstable(figure) else f"{key}: {figure.doubt}"
                    )


def _count(figure: Figure) -> str:
    return UNKNOWN if figure.value is None else f"{figure.value:,}{_mark(figure)}"


def _time(figure: Figure) -> str:
    return UNKNOWN if figure.value is None else f"{prose_time(figure.value)}{_mark(figure)}"


def _mark(figure: Figure) -> str:
    return f" {DOUBT}" if figure.doubt else ""


def _ns(duration_ns: int | None) -> str:
    return UNKNOWN if duration_ns is None else prose_time(duration_ns)


def _ratio(value: float | None) -> str:
    return UNKNOWN if value is None else ratio(value)
