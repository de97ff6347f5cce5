"""Times side by side: the times that can be compared by, the baseline, and a variant's speed-up against it.

A verdict needs builds (`profiles.comparison.judgement`). Older results have none: there a ratio says how the medians
compare, and `apart` only whether the p25–p75 ranges of the two variants' samples overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic

from profiles import catalog
from profiles.comparison.entry import Entry, EntryT, State, in_state
from profiles.results import Metric
from profiles.verdict import VariantComparison, Verdict


class By(StrEnum):
    """The times that a speed-up can be computed from, by their metric's name."""

    GPU_TIME = "gpu_time"
    CALL_TIME = "call_time"
    GRAPH_TIME = "graph_time"
    SYNC_TIME = "sync_time"
    HOST_TIME = "host_time"


TITLES = {
    By.GPU_TIME: "GPU time",
    By.CALL_TIME: "back-to-back time",
    By.GRAPH_TIME: "graph time",
    By.SYNC_TIME: "lone-call time",
    By.HOST_TIME: "host time",
}


@dataclass(frozen=True, slots=True)
class Timed(Generic[EntryT]):
    """A measured entry with the time that it is compared by."""

    entry: EntryT
    metric: Metric


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedUp:
    """`ratio` is baseline ÷ variant: above 1 the variant took less time. It is that of `judged`, the comparison over
    builds, and where that is None the ratio of medians.

    `apart` is None where a spread is not recorded; `doubtful` where one of the two times is in doubt.
    """

    ratio: float
    apart: bool | None
    doubtful: bool
    judged: VariantComparison | None = None

    @property
    def faster(self) -> bool:
        if self.judged is not None:
            return self.judged.verdict is Verdict.FASTER
        return self.apart is not False and self.ratio > 1

    @property
    def slower(self) -> bool:
        if self.judged is not None:
            return self.judged.verdict is Verdict.SLOWER
        return self.apart is not False and self.ratio < 1

    @property
    def equivalent(self) -> bool:
        return self.judged is not None and self.judged.verdict is Verdict.EQUIVALENT

    @property
    def undecided(self) -> bool:
        return self.apart is False if self.judged is None else self.judged.verdict is Verdict.UNDECIDED


def offered(entries: Iterable[Entry]) -> tuple[By, ...]:
    """The times that at least one measured entry has; on a CPU there is no GPU time."""
    measured = in_state(entries, State.MEASURED)
    return tuple(by for by in By if any(time(entry, by) is not None for entry in measured))


def chosen(entries: Iterable[Entry], wanted: str) -> By:
    """`wanted` where it was measured, else the first time that was."""
    available = offered(entries)
    return next((by for by in available if by == wanted), available[0] if available else By.GPU_TIME)


def time(entry: Entry, by: By) -> Metric | None:
    """None also for a time that is not positive: no foreign file makes us divide by it."""
    metric = None if entry.run is None else entry.run.metric(by)
    return metric if metric is not None and metric.value > 0 else None


def timed(entries: Iterable[EntryT], by: By) -> tuple[Timed[EntryT], ...]:
    """The measured entries that have this time, fastest first."""
    found = [
        Timed(entry, metric) for entry in in_state(entries, State.MEASURED) if (metric := time(entry, by)) is not None
    ]
    return tuple(sorted(found, key=lambda one: one.metric.value))


def baseline(entries: Sequence[EntryT], wanted: str | None, by: By) -> Timed[EntryT] | None:
    """The entry with key or variant `wanted`, else the operation's own baseline, else the first that was timed.

    Only a measured entry with this time can be a baseline: None where there is none.
    """
    able = sorted(timed(entries, by), key=lambda one: entries.index(one.entry))
    if not able:
        return None
    usual = catalog.operation(able[0].entry.workload.operation).baseline
    by_key = [one for one in able if one.entry.key == wanted]
    by_variant = [one for one in able if one.entry.variant == wanted]
    by_catalogue = [one for one in able if one.entry.variant == usual]
    return [*by_key, *by_variant, *by_catalogue, *able][0]


def speed_up(before: Metric, after: Metric, judged: VariantComparison | None = None) -> SpeedUp:
    """From the baseline's time and the variant's, of the same name."""
    return SpeedUp(
        ratio=before.value / after.value if judged is None else judged.ratio,
        apart=_apart(before, after),
        doubtful=before.doubt is not None or after.doubt is not None,
        judged=judged,
    )


def _apart(one: Metric, other: Metric) -> bool | None:
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return None
    return one.high < other.low or other.high < one.low
