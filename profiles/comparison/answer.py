"""The sentence that answers a comparison: what is fastest, by how much, and what changed with it.

It names medians and ratios of medians. Where the spreads of two variants' samples overlap it says that they cannot be
told apart, and it never claims significance: that needs intervals over builds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from profiles.comparison import figures
from profiles.comparison.change import changes
from profiles.comparison.entry import Entry, State, in_state, sections, state
from profiles.comparison.parts import Part, mono, muted, names, plain, strong, text
from profiles.comparison.reason import failed_sentence, incorrect_sentence
from profiles.comparison.speed import TITLES, By, Timed, baseline, chosen, speed_up, timed


@dataclass(frozen=True, slots=True)
class Answer:
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        return plain(self.parts)


def answer(entries: Sequence[Entry], *, base_key: str | None = None, by: str = By.GPU_TIME) -> Answer:
    """The answer of one section, whatever state it is in."""
    used = chosen(entries, by)
    base = baseline(entries, base_key, used)
    if base is None:
        return Answer(_nothing_measured(entries))
    return Answer((*_compared(entries, base, used), *_rest(entries)))


def whole_answer(entries: Sequence[Entry]) -> str | None:
    """The plain text that lists keep: with several workloads the first one's, and how many there are.

    None until something is measured or everything has ended.
    """
    told = [section for section in sections(entries) if not _is_waiting(section)]
    if not told:
        return None
    first = answer(told[0]).text
    others = len(sections(entries)) - 1
    return first if not others else f"{first} And {figures.count(others, 'more workload')}."


def _is_waiting(entries: Sequence[Entry]) -> bool:
    states = {state(entry) for entry in entries}
    return State.MEASURED not in states and State.PENDING in states


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


def _compared(entries: Sequence[Entry], base: Timed[Entry], by: By) -> tuple[Part, ...]:
    ranked = timed(entries, by)
    if len(ranked) == 1:
        return (
            *_called(base.entry, entries),
            text(f" takes {_time(base)} of {TITLES[by]}; no other variant was measured."),
        )
    if ranked[0].entry is base.entry:
        return _best_is_baseline(entries, base, ranked[1], by)
    return _faster(entries, base, ranked, by)


def _faster(entries: Sequence[Entry], base: Timed[Entry], ranked: Sequence[Timed[Entry]], by: By) -> tuple[Part, ...]:
    best, gain = ranked[0], speed_up(base.metric, ranked[0].metric)
    if gain.apart is False:
        return _same(entries, best, base, by)
    after = changes(base.entry, best.entry)
    return (
        *_called(best.entry, entries),
        text(" is "),
        strong(figures.ratio(gain.ratio)),
        text(" faster than "),
        *_called(base.entry, entries),
        muted(f" (medians {_pair(best, base)} of {TITLES[by]})"),
        *((text(": "), *after) if after else ()),
        text("."),
        *_rivals(entries, best, [one for one in ranked[1:] if one.entry is not base.entry]),
    )


def _best_is_baseline(entries: Sequence[Entry], base: Timed[Entry], second: Timed[Entry], by: By) -> tuple[Part, ...]:
    loss = speed_up(base.metric, second.metric)
    if loss.apart is False:
        return _same(entries, second, base, by)
    return (
        text("Nothing measured here is faster than "),
        *_called(base.entry, entries),
        text(f": {_time(base)} of {TITLES[by]}. The nearest, "),
        *_called(second.entry, entries),
        text(", takes "),
        strong(_longer(1 / loss.ratio)),
        muted(f" ({_time(second)})"),
        text("."),
    )


def _same(entries: Sequence[Entry], one: Timed[Entry], base: Timed[Entry], by: By) -> tuple[Part, ...]:
    return (
        *_called(one.entry, entries),
        text(" and "),
        *_called(base.entry, entries),
        text(" cannot be told apart by this measurement"),
        muted(f" (medians {_pair(one, base)} of {TITLES[by]}, with overlapping spreads)"),
        text(". More samples may decide."),
    )


def _rivals(entries: Sequence[Entry], best: Timed[Entry], others: Sequence[Timed[Entry]]) -> tuple[Part, ...]:
    """Those that the spreads do not keep apart from the best: naming one winner would say too much."""
    close = [one.entry for one in others if speed_up(best.metric, one.metric).apart is False]
    if not close:
        return ()
    called = [_called(entry, entries) for entry in close]
    joined = called[0] if len(called) == 1 else names([plain(parts) for parts in called])
    return (text(" "), *joined, text(" cannot be told apart from it by this measurement."))


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


def _time(one: Timed[Entry]) -> str:
    unit = figures.time_unit(one.entry.workload)
    return f"{unit.write(one.metric.value)} {unit.symbol}"


def _pair(one: Timed[Entry], other: Timed[Entry]) -> str:
    unit = figures.time_unit(one.entry.workload)
    return f"{unit.write(one.metric.value)} and {_time(other)}"
