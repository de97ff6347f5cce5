"""What `fusescope run --aa` prints: every variant against itself, and how often the verdict is false."""

from __future__ import annotations

from app.commands.output import table
from profiles import catalog
from profiles.comparison.figures import close_range, close_ratio, count, listed, workload_label
from profiles.comparison.speed import TITLES, By
from profiles.results import Results, Trial
from profiles.verdict import VariantComparison, Verdict

FALSE = (Verdict.FASTER, Verdict.SLOWER)
TITLES_OF_COLUMNS = ("variant", "time", "ratio", "interval", "verdict", "builds")


def described_twins(results: Results) -> list[str]:
    lines = [line for trial in results.trials for line in _trial(trial)]
    return [*lines, summary([one for trial in results.trials for one in trial.comparisons])]


def summary(comparisons: list[VariantComparison]) -> str:
    """`0 of 7 comparisons of a variant with itself are decided falsely; 6 equivalent, 1 undecided.`"""
    found = [one.verdict for one in comparisons]
    if not found:
        return "No variant could be compared with itself."
    false = sum(found.count(verdict) for verdict in FALSE)
    rest = [f"{found.count(verdict)} {verdict}" for verdict in Verdict if verdict in found]
    of = count(len(found), "comparison")
    return f"{false} of {of} of a variant with itself {'is' if false == 1 else 'are'} decided falsely: {listed(rest)}."


def _trial(trial: Trial) -> list[str]:
    workload = trial.workload
    heading = f"{catalog.operation(workload.operation).title}: {workload_label(workload)}, each variant against itself"
    rows = [_row(one) for one in trial.comparisons]
    notes = [f"  {one.candidate}, {TITLES[By(one.metric)]}: {note}" for one in trial.comparisons for note in one.notes]
    drawn = table(TITLES_OF_COLUMNS, rows, right=(False, False, True, True, False, True)) if rows else []
    return [heading, "", *drawn, *notes, ""]


def _row(one: VariantComparison) -> tuple[str, ...]:
    title, interval = TITLES[By(one.metric)], close_range(one.low, one.high)
    return (one.candidate, title, close_ratio(one.ratio), interval or "–", str(one.verdict), f"{one.builds:,}")
