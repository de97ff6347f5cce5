"""The speed-up's cell: a sign, the ratio and its interval; what speaks against them on hover and in notes."""

from __future__ import annotations

from collections.abc import Collection
from html import escape

from app.charts.doubts import Doubts
from app.charts.markup import missing
from app.markup import muted
from profiles.comparison.entry import Entry, State
from profiles.comparison.figures import count, percent, ratio, ratio_range
from profiles.comparison.speed import SpeedUp
from profiles.comparison.table import Row
from profiles.verdict import VariantComparison, Verdict

SIGNS = {Verdict.FASTER: "▲", Verdict.SLOWER: "▼", Verdict.EQUIVALENT: "≈", Verdict.UNDECIDED: "?"}
COLOURS = {Verdict.FASTER: "fs-green", Verdict.SLOWER: "fs-red"}


def speed_up_cell(row: Row[Entry], doubts: Doubts, *, bounded: bool, shared: Collection[str] = ()) -> str:
    """`bounded`: the column holds intervals, so that cells without one keep its place free. `shared` are the notes of
    all speed-ups, which the column's head has."""
    if row.is_baseline:
        return muted("baseline") + (_bounds(None) if bounded else "")
    if row.state is State.INCORRECT:
        return missing("incorrect variants have no speed-up")
    if row.speed_up is None:
        return missing("no time to compare with the baseline's")
    judged = row.speed_up.judged
    figure = _by_medians(row.speed_up) if judged is None else _judged(judged)
    marked = doubts.mark_all(figure, () if judged is None else [note for note in judged.notes if note not in shared])
    return marked + (_bounds(judged) if bounded else "")


def _judged(judged: VariantComparison) -> str:
    figure = f"{SIGNS[judged.verdict]} {ratio(judged.ratio)}"
    title = escape(_title(judged))
    colour = COLOURS.get(judged.verdict)
    if colour is None:
        return f'<span title="{title}">{figure}</span>'
    return f'<b class="{colour}" title="{title}">{figure}</b>'


def _title(judged: VariantComparison) -> str:
    """`faster than the baseline: 25.3–25.5× over 80 builds, 99 % with all variants corrected together`."""
    words = {
        Verdict.FASTER: "faster than the baseline",
        Verdict.SLOWER: "slower than the baseline",
        Verdict.EQUIVALENT: f"equivalent: within the margin of {percent(judged.margin)}",
        Verdict.UNDECIDED: "undecided: neither beyond the margin nor within it",
    }[judged.verdict]
    if judged.low is None or judged.high is None:
        return f"no verdict over {count(judged.builds, 'build')}"
    interval = f"{ratio_range(judged.low, judged.high)} over {count(judged.builds, 'build')}"
    return f"{words}: {interval}, {judged.confidence * 100:.0f} % for all comparisons of the family together"


def _bounds(judged: VariantComparison | None) -> str:
    if judged is None or judged.low is None or judged.high is None:
        return '<span class="fs-spread ratio"></span>'
    return f'<span class="fs-spread ratio">{ratio_range(judged.low, judged.high).rstrip("×")}</span>'


def _by_medians(gain: SpeedUp) -> str:
    """Results without builds: no verdict, only whether the spreads overlap."""
    figure = ratio(gain.ratio)
    if gain.undecided:
        title = "cannot be told apart from the baseline: the p25–p75 ranges of the samples overlap"
        return f'<span title="{title}">? {figure}</span>'
    if gain.faster:
        return f'<b class="fs-green" title="faster than the baseline, by medians; no builds, no verdict">▲ {figure}</b>'
    if gain.slower:
        return f'<b class="fs-red" title="slower than the baseline, by medians; no builds, no verdict">▼ {figure}</b>'
    return figure
