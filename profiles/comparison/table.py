"""The rows of the variant table: their order, and their speed-ups against a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from profiles.comparison.doubts import shared_doubts, single_doubts
from profiles.comparison.entry import Entry_co, EntryT, State, state
from profiles.comparison.judgement import Judged, judge
from profiles.comparison.limits import Standing, standing
from profiles.comparison.speed import By, SpeedUp, Timed, baseline, chosen, speed_up, time
from profiles.verdict import VariantComparison


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Generic[Entry_co]):
    """`speed_up` is None for the baseline, for what has no time, and for what is not correct; `standing` for what is
    not measured."""

    entry: Entry_co
    state: State
    is_baseline: bool
    speed_up: SpeedUp | None
    standing: Standing | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completeness:
    """How much of a section is measured; `doubtful_in_all` counts the numbers that every run has in doubt for one
    reason, `doubtful` the other numbers in doubt."""

    measured: int
    incorrect: int
    failed: int
    cancelled: int
    missing: int
    pending: int
    refused: int
    doubtful: int
    doubtful_in_all: int

    @property
    def total(self) -> int:
        return (
            self.measured + self.incorrect + self.failed + self.cancelled + self.missing + self.pending + self.refused
        )


def rows(
    entries: Sequence[EntryT], *, base_key: str | None = None, by: str = By.GPU_TIME, judged: Judged | None = None
) -> tuple[Row[EntryT], ...]:
    """One section's rows: the baseline first, then fastest first, then by state, refused ones last.

    `judged` is what `judge` says of the whole comparison; without it the section is a family of its own.
    """
    used = chosen(entries, by)
    base = baseline(entries, base_key, used)
    found = judge(entries, base_key=base_key, by=used) if judged is None else judged
    unsorted = [_row(entry, base, used, found.get(entry.key)) for entry in entries]
    return tuple(sorted(unsorted, key=lambda row: _place(row, used)))


def completeness(entries: Sequence[EntryT]) -> Completeness:
    found = [state(entry) for entry in entries]
    doubtful, in_all = single_doubts(entries), len(shared_doubts(entries))
    return Completeness(**{name.value: found.count(name) for name in State}, doubtful=doubtful, doubtful_in_all=in_all)


def _row(entry: EntryT, base: Timed[EntryT] | None, by: By, judged: VariantComparison | None) -> Row[EntryT]:
    found, metric = state(entry), time(entry, by)
    is_baseline = base is not None and base.entry is entry
    comparable = found is State.MEASURED and not is_baseline
    return Row(
        entry=entry,
        state=found,
        is_baseline=is_baseline,
        speed_up=speed_up(base.metric, metric, judged)
        if comparable and base is not None and metric is not None
        else None,
        standing=standing(entry) if found is State.MEASURED else None,
    )


def _place(row: Row[EntryT], by: By) -> tuple[bool, int, float]:
    metric = time(row.entry, by)
    return not row.is_baseline, list(State).index(row.state), metric.value if metric else float("inf")
