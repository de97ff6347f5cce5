"""The sentence that answers a comparison: what is fastest, by how much, and what changed with it.

Faster is who has that verdict over builds. Without builds (older results) it names medians, and says of those whose
spreads overlap that they cannot be told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from profiles.comparison import figures
from profiles.comparison.change import changes
from profiles.comparison.entry import Entry, State, in_state, sections, state
from profiles.comparison.judgement import Judged, judge, judge_against
from profiles.comparison.parts import Part, mono, muted, names, plain, strong, text
from profiles.comparison.reason import failed_sentence, incorrect_sentence
from profiles.comparison.speed import TITLES, By, SpeedUp, Timed, baseline, chosen, speed_up, timed
from profiles.comparison.untold import close_sentence
from profiles.comparison.verdicts import APART
from profiles.comparison.visits import visits_sentence


@dataclass(frozen=True, slots=True)
class Answer:
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        return plain(self.parts)


def answer(
    entries: Sequence[Entry], *, base_key: str | None = None, by: str = By.GPU_TIME, judged: Judged | None = None
) -> Answer:
    """The answer of one section, whatever state it is in.

    `judged` is what `judge` says of the whole comparison; without it the section is a family of its own.
    """
    used = chosen(entries, by)
    base = baseline(entries, base_key, used)
    if base is None:
        return Answer(_nothing_measured(entries))
    found = judge(entries, base_key=base_key, by=used) if judged is None else judged
    return Answer((*_visited(entries), *_compared(entries, base, used, found), *_rest(entries)))


def whole_answer(entries: Sequence[Entry]) -> str | None:
    """The plain text that lists keep: with several workloads the first one's, and how many there are.

    None until something is measured or everything has ended.
    """
    told = [section for section in sections(entries) if not _is_waiting(section)]
    if not told:
        return None
    first = answer(told[0], judged=judge(entries)).text
    others = len(sections(entries)) - 1
    return first if not others else f"{first} And {figures.count(others, 'more workload')}."


def _is_waiting(entries: Sequence[Entry]) -> bool:
    states = {state(entry) for entry in entries}
    return State.MEASURED not in states and State.PENDING in states


def _visited(entries: Sequence[Entry]) -> tuple[Part, ...]:
    """Where shapes were walked that was the question: it is answered first."""
    said = visits_sentence(entries)
    return (*said, text(" ")) if said else ()


def _nothing_measured(entries: Sequence[Entry]) -> tuple[Part, ...]:
    pending = in_state(entries, State.PENDING)
    if pending:
        return (text(f"Nothing is measured yet; {figures.count(len(pending), 'variant')} to come."),)
    ended = [entry for entry in entries if state(entry) in (State.INCORRECT, State.FAILED)]
    if ended:
        first = ended[0]
        told = incorrect_sentence(first) if state(first) is State.INCORRECT else failed_sentence(first)
        return (text("No variant could be measured. "), *told)
    if in_state(entries, State.REFUSED):
        return (text("No variant could be measured: this worker refused all of them."),)
    return (text("No variant was measured: the job ended before any was."),)


def _compared(entries: Sequence[Entry], base: Timed[Entry], by: By, judged: Judged) -> tuple[Part, ...]:
    ranked = timed(entries, by)
    others = [
        (one, speed_up(base.metric, one.metric, judged.get(one.entry.key)))
        for one in ranked
        if one.entry is not base.entry
    ]
    if not others:
        return (
            *_called(base.entry, entries),
            text(f" takes {_time(base)} of {TITLES[by]}; no other variant was measured."),
        )
    faster = [(one, gain) for one, gain in others if gain.faster]
    if faster:
        return _faster(entries, base, *faster[0], ranked)
    nearest, gain = others[0]
    if gain.slower:
        return _best_is_baseline(entries, base, others, by)
    return close_sentence(_called(nearest.entry, entries), _called(base.entry, entries), nearest, base, gain)


def _faster(
    entries: Sequence[Entry], base: Timed[Entry], best: Timed[Entry], gain: SpeedUp, ranked: Sequence[Timed[Entry]]
) -> tuple[Part, ...]:
    by = By(best.metric.name)
    after = changes(base.entry, best.entry)
    bounds = _bounds(gain)
    return (
        *_called(best.entry, entries),
        text(" is "),
        strong(figures.ratio(gain.ratio)),
        *((muted(f" ({bounds})"),) if bounds else ()),
        text(" faster than "),
        *_called(base.entry, entries),
        *_measure(best, base, by, bounded=bool(bounds)),
        *((text(": "), *after) if after else ()),
        text("."),
        *_rivals(entries, best, [one for one in ranked if one.entry is not base.entry and one.entry is not best.entry]),
    )


def _bounds(gain: SpeedUp) -> str | None:
    judged = gain.judged
    if judged is None or judged.low is None or judged.high is None:
        return None
    return figures.ratio_range(judged.low, judged.high)


def _measure(best: Timed[Entry], base: Timed[Entry], by: By, *, bounded: bool) -> tuple[Part, ...]:
    """Which time the ratio is of, where it is not the usual one; without an interval the medians stand for it."""
    if not bounded:
        return (muted(f" (medians {_pair(best, base)} of {TITLES[by]})"),)
    return () if by is By.GPU_TIME else (text(f" by {TITLES[by]}"),)


def _best_is_baseline(
    entries: Sequence[Entry], base: Timed[Entry], others: Sequence[tuple[Timed[Entry], SpeedUp]], by: By
) -> tuple[Part, ...]:
    """`others` are behind it, nearest first; of those that are not known to be slower it is said so."""
    (second, loss), called = others[0], _called(base.entry, entries)
    known = " known to be" if any(gain.undecided for _, gain in others) else ""
    return (
        text(f"Nothing measured here is{known} faster than "),
        *called,
        text(f": {_time(base)} of {TITLES[by]}. The nearest, "),
        *_called(second.entry, entries),
        text(", takes "),
        strong(_longer(1 / loss.ratio)),
        muted(f" ({_longer_bounds(loss) or _time(second)})"),
        text("."),
        *_alike(entries, others, fast_as=(text(" as "), *called), apart_from=called),
    )


def _rivals(entries: Sequence[Entry], best: Timed[Entry], others: Sequence[Timed[Entry]]) -> tuple[Part, ...]:
    """Those that cannot be told from the best, or are as fast: naming one winner would say too much."""
    judged = judge_against(best, others)
    gains = [(one, speed_up(best.metric, one.metric, judged.get(one.entry.key))) for one in others]
    return _alike(entries, gains, fast_as=(), apart_from=(text("it"),))


def _alike(
    entries: Sequence[Entry],
    gains: Sequence[tuple[Timed[Entry], SpeedUp]],
    *,
    fast_as: tuple[Part, ...],
    apart_from: tuple[Part, ...],
) -> tuple[Part, ...]:
    """Who is as fast, who cannot be told apart, and who was measured elsewhere, a sentence each."""
    equivalent = [one.entry for one, gain in gains if gain.equivalent]
    elsewhere = [one.entry for one, gain in gains if _is_elsewhere(gain)]
    undecided = [one.entry for one, gain in gains if gain.undecided and not _is_elsewhere(gain)]
    sure = "" if any(gain.judged is not None for _, gain in gains) else " by this measurement"
    margin = f" within the margin of {figures.percent(equivalent[0].plan.margin)}." if equivalent else ""
    return (
        *_said_of(entries, equivalent, ("is", "are"), (text("as fast"), *fast_as, text(margin))),
        *_said_of(
            entries, undecided, ("cannot", "cannot"), (text("be told apart from "), *apart_from, text(f"{sure}."))
        ),
        *_said_of(entries, elsewhere, ("was", "were"), (text("measured in a different trial: no verdict."),)),
    )


def _is_elsewhere(gain: SpeedUp) -> bool:
    return gain.judged is not None and APART in gain.judged.notes


def _said_of(
    entries: Sequence[Entry], found: Sequence[Entry], verb: tuple[str, str], rest: tuple[Part, ...]
) -> tuple[Part, ...]:
    """Nothing of nobody; `verb` of one and of several."""
    if not found:
        return ()
    called = [_called(entry, entries) for entry in found]
    joined = called[0] if len(called) == 1 else names([plain(parts) for parts in called])
    return (text(" "), *joined, text(f" {verb[len(found) > 1]} "), *rest)


def _rest(entries: Sequence[Entry]) -> tuple[Part, ...]:
    pending = len(in_state(entries, State.PENDING))
    if not pending:
        return ()
    done = len(in_state(entries, State.MEASURED))
    return (text(f" {done} of {len(entries)} measured, {pending} to come; the answer may change."),)


def _called(entry: Entry, entries: Sequence[Entry]) -> tuple[Part, ...]:
    """The variant's name, with its key where two entries share it (the same variant on two machines)."""
    shared = sum(other.variant == entry.variant for other in entries) > 1
    return (mono(entry.variant), *((text(f" ({entry.key})"),) if shared else ()))


def _longer(ratio: float) -> str:
    return f"{figures.percent(ratio - 1)} longer" if ratio < 1.995 else f"{figures.ratio(ratio)} as long"


def _longer_bounds(loss: SpeedUp) -> str | None:
    judged = loss.judged
    if judged is None or judged.low is None or judged.high is None:
        return None
    low, high = 1 / judged.high, 1 / judged.low
    return figures.percent_range(low - 1, high - 1) if 1 / loss.ratio < 1.995 else figures.ratio_range(low, high)


def _time(one: Timed[Entry]) -> str:
    unit = figures.time_unit(one.entry.workload)
    return f"{unit.write(one.metric.value)} {unit.symbol}"


def _pair(one: Timed[Entry], other: Timed[Entry]) -> str:
    unit = figures.time_unit(one.entry.workload)
    return f"{unit.write(one.metric.value)} and {_time(other)}"
