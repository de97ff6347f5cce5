"""The one thing to know before choosing the winner: the worst that the measurement shows, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from profiles.comparison import figures
from profiles.comparison.dispatch import fallen
from profiles.comparison.doubts import shared_doubts
from profiles.comparison.entry import Entry, State, in_state
from profiles.comparison.judgement import Judged, fastest, judge, judge_against
from profiles.comparison.parts import Part, mono, strong, text
from profiles.comparison.reason import incorrect_sentence
from profiles.comparison.speed import TITLES, By, SpeedUp, Timed, baseline, chosen, speed_up, time, timed
from profiles.comparison.visits import against, price, shape_cost, walked
from profiles.results import Metric

DEAR_FIRST_CALL_NS = 100_000_000.0
STILL_CLOSE = 2.0


@dataclass(frozen=True, slots=True)
class Caveat:
    label: str
    parts: tuple[Part, ...]


def caveat(
    entries: Sequence[Entry], *, base_key: str | None = None, by: str = By.GPU_TIME, judged: Judged | None = None
) -> Caveat | None:
    """The first that applies, worst first; None where nothing speaks against the answer. `judged` as in `answer`."""
    used = chosen(entries, by)
    base = baseline(entries, base_key, used)
    for look in (_different_machines, _different_plans, _incorrect, _fell_back):
        found = look(entries)
        if found is not None:
            return found
    ranked = timed(entries, used)
    if base is None or len(ranked) < 2:
        return None
    verdicts = judge(entries, base_key=base_key, by=used) if judged is None else judged
    best = fastest(ranked, verdicts)
    gain = speed_up(base.metric, best.metric, verdicts.get(best.entry.key))
    return (
        _doubtful(entries, base, best, used)
        or _new_shape(entries, best, ranked)
        or _host_bound(entries, best, used)
        or _first_call(base, best, gain)
    )


def _different_machines(entries: Sequence[Entry]) -> Caveat | None:
    found = sorted({e.environment.device_name for e in in_state(entries, State.MEASURED) if e.environment})
    digests = {e.environment.digest for e in in_state(entries, State.MEASURED) if e.environment}
    if len(digests) < 2:
        return None
    where = f" ({figures.listed(found)})" if len(found) > 1 else ""
    return Caveat(
        "Different environments",
        (
            text(
                f"These runs come from {len(digests)} environments{where}; a ratio between them compares machines too."
            ),
        ),
    )


def _different_plans(entries: Sequence[Entry]) -> Caveat | None:
    policies = sorted({str(entry.plan.cache) for entry in in_state(entries, State.MEASURED)})
    if len(policies) < 2:
        return None
    words = figures.listed(policies)
    return Caveat("Different plans", (text(f"Some runs were timed with {words} caches; their times do not compare."),))


def _incorrect(entries: Sequence[Entry]) -> Caveat | None:
    wrong = in_state(entries, State.INCORRECT)
    return Caveat("Incorrect", incorrect_sentence(wrong[0])) if wrong else None


def _fell_back(entries: Sequence[Entry]) -> Caveat | None:
    """Backends of attention, compilers, graphs and hub kernels alike."""
    for entry in in_state(entries, State.MEASURED):
        for receipt in fallen(entry.run) if entry.run is not None else ():
            ran = receipt.ran or "another backend"
            said = (mono(entry.variant), text(" was asked for "), mono(receipt.asked), text(" and ran "), mono(ran))
            return Caveat("Fell back", (*said, text(". The receipts below say why.")))
    return None


def _doubtful(entries: Sequence[Entry], base: Timed[Entry], best: Timed[Entry], by: By) -> Caveat | None:
    shared = shared_doubts(in_state(entries, State.MEASURED)).get(by)
    if shared is not None:
        return Caveat("In doubt", (text(f"Every {TITLES[by]} here: {shared}."),))
    for one in (best, base):
        if one.metric.doubt is not None:
            name, doubt = mono(one.entry.variant), one.metric.doubt
            return Caveat("In doubt", (text(f"The {TITLES[by]} of "), name, text(f": {doubt}.")))
    return None


def _new_shape(entries: Sequence[Entry], best: Timed[Entry], ranked: Sequence[Timed[Entry]]) -> Caveat | None:
    """The fastest of a fixed shape may be the slowest where shapes change: not said where a walk has said it already.

    Only where another one that takes at most twice as long pays nothing like it.
    """
    dear = shape_cost(best.entry)
    if dear is None or not dear.dear or walked(entries):
        return None
    near = (one.entry for one in ranked if one.metric.value <= STILL_CLOSE * best.metric.value)
    costs = (cost for entry in near if (cost := shape_cost(entry)) is not None)
    other = next((cost for cost in costs if not cost.dear), None)
    if other is None:
        return None
    said = (*price(dear), *against(dear, other), text("."))
    return Caveat("Before you choose it", (text("The winner holds for a fixed shape only. At each new shape "), *said))


def _host_bound(entries: Sequence[Entry], best: Timed[Entry], by: By) -> Caveat | None:
    """The fastest on the GPU may lose when it is called in a row: then the host sets the pace."""
    after, in_a_row = time(best.entry, By.CALL_TIME), timed(entries, By.CALL_TIME)
    if by is not By.GPU_TIME or after is None:
        return None
    first, unit = in_a_row[0], figures.time_unit(best.entry.workload)
    judged = judge_against(first, [Timed(best.entry, after)] if best.entry is not first.entry else [])
    if not speed_up(first.metric, after, judged.get(best.entry.key)).slower:
        return None
    return Caveat(
        "Before you choose it",
        (
            text("Called back to back, "),
            mono(first.entry.variant),
            text(" is faster: "),
            strong(f"{unit.write(first.metric.value)} {unit.symbol}"),
            text(" against "),
            mono(best.entry.variant),
            text(f"’s {unit.write(after.value)}. The host, not the GPU, sets the pace there."),
        ),
    )


def _first_call(base: Timed[Entry], best: Timed[Entry], gain: SpeedUp) -> Caveat | None:
    """A dear first call (a compilation, an engine's search), with the calls that pay it back."""
    first, usual = _metric(best.entry, "first_call"), _metric(base.entry, "first_call")
    saved = base.metric.value - best.metric.value
    if first is None or not gain.faster or saved <= 0:
        return None
    extra = first.value - (usual.value if usual is not None else 0.0)
    if extra < DEAR_FIRST_CALL_NS:
        return None
    return Caveat(
        "Before you choose it",
        (
            text("The first call of "),
            mono(best.entry.variant),
            text(" costs "),
            strong(figures.prose_time(first.value)),
            text(f"; its gain pays that back after {_rounded(extra / saved)} calls of this shape."),
        ),
    )


def _metric(entry: Entry, name: str) -> Metric | None:
    return entry.run.metric(name) if entry.run is not None else None


def _rounded(calls: float) -> str:
    """Two significant digits: more would pretend to know."""
    digits = max(len(str(int(calls))) - 2, 0)
    return f"{round(calls, -digits):,.0f}"
