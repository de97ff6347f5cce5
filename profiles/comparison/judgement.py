"""Which variants are held against which: each against its section's baseline, all of a comparison as one family."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from profiles.comparison.entry import Entry, EntryT, MeasuredEntry, State, entries_of, in_state, sections
from profiles.comparison.speed import By, Timed, baseline, chosen, time
from profiles.comparison.verdicts import Pair, Side, comparisons
from profiles.results import Metric, Results
from profiles.verdict import VariantComparison, Verdict

Judged = Mapping[str, VariantComparison]
"""By the candidate's key; without those whose samples do not tell their builds."""


def judge(entries: Sequence[Entry], *, base_key: str | None = None, by: str = By.GPU_TIME) -> Judged:
    """Every candidate against the baseline of its workload, by `by` or what that workload has instead."""
    grouped = [(section, chosen(section, by)) for section in sections(entries)]
    families = {used: judge_time(entries, used, base_key=base_key) for used in {used for _, used in grouped}}
    return {
        entry.key: families[used][entry.key]
        for section, used in grouped
        for entry in section
        if entry.key in families[used]
    }


def judge_time(entries: Sequence[Entry], by: By, *, base_key: str | None = None) -> Judged:
    """The same where a workload has this very time: one family."""
    bases = [(section, baseline(section, base_key, by)) for section in sections(entries)]
    return _family([(base, _others(section, base, by)) for section, base in bases if base is not None])


def fastest(ranked: Sequence[Timed[EntryT]], judged: Judged) -> Timed[EntryT]:
    """Of the timed entries, fastest first: the first one that has the verdict, else simply the first."""
    decided = [one for one in ranked if (found := judged.get(one.entry.key)) and found.verdict is Verdict.FASTER]
    return [*decided, *ranked][0]


def judge_against(best: Timed[EntryT], others: Sequence[Timed[EntryT]]) -> Judged:
    """Whether others are as fast as the best one: a family of its own, beside that of the baseline."""
    return _family([(best, others)])


def with_comparisons(results: Results, *, twins: bool = False) -> Results:
    """The results with every trial's comparisons: each candidate's against the operation's baseline, or with `twins`
    each variant's with itself. A family is one metric over all trials."""
    entries = entries_of(results)
    found: dict[int, list[VariantComparison]] = {}
    for by in By:
        pairs = _twins(entries, by) if twins else _against_baselines(entries, by)
        told = comparisons([pair for _, pair in pairs])
        for (trial, _), comparison in zip(pairs, told, strict=True):
            found.setdefault(trial, []).extend([] if comparison is None else [comparison])
    trials = tuple(
        msgspec.structs.replace(trial, comparisons=tuple(found.get(number, ())))
        for number, trial in enumerate(results.trials)
    )
    return msgspec.structs.replace(results, trials=trials)


def _family(groups: Iterable[tuple[Timed[EntryT], Sequence[Timed[EntryT]]]]) -> dict[str, VariantComparison]:
    pairs = [(other.entry.key, _pair(base, other)) for base, others in groups for other in others]
    found = comparisons([pair for _, pair in pairs])
    return {key: one for (key, _), one in zip(pairs, found, strict=True) if one is not None}


def _others(section: Sequence[EntryT], base: Timed[EntryT], by: By) -> list[Timed[EntryT]]:
    return [one for one in _in_order(section, by) if one.entry is not base.entry]


def _in_order(entries: Sequence[EntryT], by: By) -> list[Timed[EntryT]]:
    measured = in_state(entries, State.MEASURED)
    return [Timed(entry, metric) for entry in measured if (metric := time(entry, by)) is not None]


def _pair(base: Timed[EntryT], other: Timed[EntryT]) -> Pair:
    return Pair(
        before=_side(base),
        after=_side(other),
        plan=other.entry.plan,
        together=base.entry.trial_id == other.entry.trial_id,
    )


def _side(one: Timed[EntryT]) -> Side:
    assert one.entry.run is not None, "only measured runs are timed"
    return Side(run=one.entry.run, metric=one.metric)


def _against_baselines(entries: Sequence[MeasuredEntry], by: By) -> list[tuple[int, Pair]]:
    pairs: list[tuple[int, Pair]] = []
    for trial in dict.fromkeys(entry.trial_id for entry in entries):
        section = [entry for entry in entries if entry.trial_id == trial]
        base = baseline(section, None, by)
        pairs += [(trial, _pair(base, one)) for one in _others(section, base, by)] if base is not None else []
    return pairs


def _twins(entries: Sequence[MeasuredEntry], by: By) -> list[tuple[int, Pair]]:
    return [
        (one.entry.trial_id, Pair(before=_side(one), after=Side(run=one.entry.run, metric=twin), plan=one.entry.plan))
        for one in _in_order(entries, by)
        if (twin := _twin(one.entry, by)) is not None
    ]


def _twin(entry: MeasuredEntry, by: By) -> Metric | None:
    return next((metric for metric in entry.run.twin if metric.name == by), None)
