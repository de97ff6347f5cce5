"""What stands in for what where kernels' names differ: matches by place, and their time by operator."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from app.charts.causes import kernel_html
from app.charts.doubts import Doubts
from app.charts.markup import full_name, key_box, missing, swatch
from app.formatting import count, plural
from app.markup import muted, section
from app.traces.figures import ratio_cell, time_cell, unit_for
from app.traces.folding import SHOWN, folding_html, head_html
from profiles.comparison.figures import TimeUnit
from profiles.comparison.traces.document import Match, MatchedKernel, Matching, OperatorTime, Side, TraceDifference
from profiles.comparison.traces.figures import covered
from profiles.trace.printable import printable

MOST_SIDE = 4


def matches_html(told: TraceDifference) -> str:
    """Kernels at the same place of both sequences: what one side does with this, the other does with that."""
    matching = told.matching
    if matching is None or not matching.matches:
        return ""
    doubts = Doubts()
    unit = unit_for(max((_whole(match.baseline) + _whole(match.candidate) for match in matching.matches), default=0))
    head = head_html(
        (told.baseline, "", ""),
        (told.candidate, "", ""),
        ("At", "", "wide"),
        ("Places", "", "num wide"),
        (told.baseline, unit.symbol, "num"),
        (told.candidate, unit.symbol, "num"),
        ("Ratio", "", "num"),
        ("Matched by", "", "wide"),
    )
    aside = escape(coverage_words(matching, told.baseline, told.candidate))
    title = section("What stands in for what", aside=aside)
    rows = folding_html(
        "fs-kernels fs-matches", head, matching.matches, row=lambda match: _match(match, unit, doubts), doubts=doubts
    )
    return title + rows + _unmatched(matching, told)


def operators_html(told: TraceDifference) -> str:
    """Matched kernels' time by the outermost operator that launched them."""
    matching = told.matching
    if matching is None or not any(one.operator for one in matching.operators):
        return ""
    doubts = Doubts()
    longest = max((_most(one) for one in matching.operators), default=0)
    unit = unit_for(longest)
    head = head_html(
        ("Operator", "", ""),
        ("Places", "", "num wide"),
        (told.baseline, unit.symbol, "num"),
        (told.candidate, unit.symbol, "num"),
        ("Ratio", "", "num"),
        ("", f"{told.baseline} above {told.candidate}", "wide"),
    )
    title = section("By operator", aside="time of matched kernels")
    return title + folding_html(
        "fs-kernels fs-operators",
        head,
        matching.operators,
        row=lambda one: _operator(one, unit, longest, doubts),
        doubts=doubts,
    )


def coverage_words(matching: Matching, a: str, b: str) -> str:
    """`A: 1,029 of 1,029 kernels, 100 % of the time · B: …`; what was ambiguous or cut."""
    parts = [_covered(matching.baseline, a), _covered(matching.candidate, b)]
    if matching.ambiguous:
        parts.append(f"{matching.ambiguous:,} ambiguous")
    if matching.cut:
        parts.append(f"{matching.cut:,} places beyond the limit left out")
    return " · ".join(parts)


def _covered(side: Side, key: str) -> str:
    return f"{key}: {side.matched:,} of {count(side.kernels)} kernels matched, {covered(side)} of the time"


def _match(match: Match, unit: TimeUnit, doubts: Doubts) -> str:
    where = match.operator or match.module
    at = (
        f'<code class="fs-op" title="{full_name(where)}">{full_name(where)}</code>'
        if where
        else missing("no operator or module is told")
    )
    return (
        f'<tr><td>{_side(match.baseline)}</td><td>{_side(match.candidate)}</td><td class="wide fs-muted">{at}</td>'
        f'<td class="num wide">{match.places:,}</td><td class="num">{time_cell(match.time.baseline, unit, doubts)}</td>'
        f'<td class="num">{time_cell(match.time.candidate, unit, doubts)}</td>'
        f'<td class="num">{ratio_cell(match.time.ratio)}</td><td class="wide fs-muted">{escape(match.ground)}</td></tr>'
    )


def _side(kernels: Sequence[MatchedKernel]) -> str:
    if not kernels:
        return missing("nothing at this place")
    shown = "".join(
        f'<div class="fs-matched">{swatch(kernel.role)} {kernel_html(kernel.short_name, kernel.name)}</div>'
        for kernel in kernels[:MOST_SIDE]
    )
    left = len(kernels) - MOST_SIDE
    return shown + (muted(f"and {left} more") if left > 0 else "")


def _operator(one: OperatorTime, unit: TimeUnit, longest_ns: int, doubts: Doubts) -> str:
    name = (
        f'<code class="fs-op" title="{full_name(one.operator)}">{full_name(one.operator)}</code>'
        if one.operator
        else muted("no operator told")
    )
    values = (one.time.baseline.value or 0, one.time.candidate.value or 0)
    bars = "".join(
        f'<i class="fs-block" style="width:{value / max(longest_ns, 1) * 100:.2f}%"></i>' for value in values
    )
    return (
        f'<tr><th scope="row">{name}</th><td class="num wide">{one.places:,}</td>'
        f'<td class="num">{time_cell(one.time.baseline, unit, doubts)}</td>'
        f'<td class="num">{time_cell(one.time.candidate, unit, doubts)}</td>'
        f'<td class="num">{ratio_cell(one.time.ratio)}</td><td class="wide fs-barcell">'
        f'<div class="fs-pair">{bars}</div></td></tr>'
    )


def _unmatched(matching: Matching, told: TraceDifference) -> str:
    """What stands alone on each side, folded."""
    lists = "".join(
        f"<p>{key_box(key)} {_alone(side)}</p>"
        for key, side in ((told.baseline, matching.baseline), (told.candidate, matching.candidate))
        if side.unmatched
    )
    if not lists:
        return ""
    number = len(matching.baseline.unmatched) + len(matching.candidate.unmatched)
    summary = f"<summary>{plural(number, 'kernel name')} without a counterpart</summary>"
    return f'<div class="fs"><details class="fs-fold">{summary}<div class="fs-alone">{lists}</div></details></div>'


def _alone(side: Side) -> str:
    shown = ", ".join(
        f'<span class="fs-nowrap">{swatch(kernel.role)} <code title="{full_name(kernel.name)}">'
        f"{escape(printable(kernel.short_name))}</code> × {kernel.calls:,}</span>"
        for kernel in side.unmatched[:SHOWN]
    )
    left = len(side.unmatched) - SHOWN
    return shown + (f" and {left} more" if left > 0 else "")


def _most(one: OperatorTime) -> int:
    return max(one.time.baseline.value or 0, one.time.candidate.value or 0)


def _whole(kernels: Sequence[MatchedKernel]) -> int:
    return sum(kernel.total_ns for kernel in kernels)
