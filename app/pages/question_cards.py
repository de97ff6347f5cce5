"""The pictures on Start: what the newest comparison of a question's kind answered, drawn small in role colours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape

from app.formatting import NOT_RECORDED, thousands
from app.markup import stack
from app.states import short_device
from db.views import ComparedRun
from profiles.comparison import figures
from profiles.comparison.entry import sections
from profiles.comparison.judgement import fastest, judge
from profiles.comparison.recording import count_doubt
from profiles.comparison.roles import segments
from profiles.comparison.speed import TITLES, By, SpeedUp, Timed, baseline, chosen, speed_up, timed

Entries = Sequence[ComparedRun]

NEUTRAL = {
    "attention-ladder": ((7, 11, 11, 31, 31, 6), (4,)),
    "fusion-pairs": ((29, 6, 29, 8, 26), (29, 29, 8, 26)),
    "decoder-end-to-end": ((38,), (82,)),
}


def picture(preset: str, newest_first: Iterable[Entries]) -> str:
    """HTML for the card of `preset`: the newest comparison that answers it, or a sketch without colour and figures."""
    draw = PICTURES.get(preset)
    answers = (drawn for entries in newest_first if draw is not None and (drawn := draw(entries)) is not None)
    return next(answers, None) or _sketch(preset)


def _ladder(entries: Entries) -> str | None:
    pair = _best_pair(entries)
    if pair is None:
        return None
    base, best, gain = pair
    return _bars(base, best) + _caption(
        figures.ratio(gain.ratio),
        f"<code>{escape(best.entry.variant)}</code> against <code>{escape(base.entry.variant)}</code>",
        best,
    )


def _fusion(entries: Entries) -> str | None:
    pair = _best_pair(entries)
    if pair is None:
        return None
    base, best, gain = pair
    before, after = _activities(base.entry), _activities(best.entry)
    less = figures.percent(1 - 1 / gain.ratio)
    by = TITLES[By(best.metric.name)]
    counted = f"{before} became {after}" if before != after else f"{before} {_noun(best.entry)} each"
    return _bars(base, best) + _caption(counted, f"{escape(by)} {less} less", best)


def _throughput(entries: Entries) -> str | None:
    rated = [(e, m.value) for e in entries if e.run is not None and (m := e.run.metric("tokens_per_s")) is not None]
    if not rated:
        return None
    most = max(value for _, value in rated)
    best = max(rated, key=lambda pair: pair[1])[0]
    rows = "".join(_rate_row(e.variant, value, most, best=e is best) for e, value in rated[:4])
    return f'<div class="fs-rates">{rows}</div>'


def _rate_row(variant: str, value: float, most: float, *, best: bool) -> str:
    css = "best" if best else ""
    figure = f"{thousands(value)} tok/s" if best else thousands(value)
    return (
        f'<span class="fs-mono">{escape(variant)}</span>'
        f'<span><i class="{css}" style="width:{100 * value / most:.1f}%"></i></span><span class="{css}">{figure}</span>'
    )


PICTURES: dict[str, Callable[[Entries], str | None]] = {
    "attention-ladder": _ladder,
    "fusion-pairs": _fusion,
    "decoder-end-to-end": _throughput,
}


def _best_pair(entries: Entries) -> tuple[Timed[ComparedRun], Timed[ComparedRun], SpeedUp] | None:
    """The baseline, the fastest and its speed-up, of the first workload that has a winner: what cannot be told apart
    answers no question."""
    judged = judge(entries)
    for section in sections(entries):
        by = chosen(section, By.GPU_TIME)
        ranked, base = timed(section, by), baseline(section, None, by)
        best = fastest(ranked, judged) if ranked else None
        if base is None or best is None or best.entry is base.entry:
            continue
        gain = speed_up(base.metric, best.metric, judged.get(best.entry.key))
        if gain.faster:
            return base, best, gain
    return None


def _bars(base: Timed[ComparedRun], best: Timed[ComparedRun]) -> str:
    """As long as the times that the caption compares; within, the shares of the traced kernels, where there are any."""
    longest = max(base.metric.value, best.metric.value)
    return "".join(_bar(one, 100 * one.metric.value / longest) for one in (base, best))


def _bar(one: Timed[ComparedRun], width: float) -> str:
    if one.entry.run is not None and one.entry.run.kernels:
        return stack(segments(one.entry.run), width=width)
    return f'<div class="fs-stack" style="width:{width:.1f}%"><i class="fs-role-helper" style="flex:1"></i></div>'


def _caption(strong: str, rest: str, best: Timed[ComparedRun]) -> str:
    environment = best.entry.environment
    device = short_device(environment.device_name, environment.device) if environment else NOT_RECORDED
    return f'<p class="fs-caption"><b>{escape(strong)}</b> {rest}, {escape(device)}</p>'


def _activities(entry: ComparedRun) -> str:
    counts = entry.run.counts if entry.run is not None else None
    value = None if counts is None else counts.operators if counts.kernels is None else counts.kernels
    if entry.run is None or value is None:
        return NOT_RECORDED
    return f"{value:,}{' ?' if count_doubt(entry.run, _noun(entry)) else ''}"


def _noun(entry: ComparedRun) -> str:
    counts = entry.run.counts if entry.run is not None else None
    return "operators" if counts is not None and counts.kernels is None else "kernels"


def _sketch(preset: str) -> str:
    bars = "".join(
        f'<div class="fs-stack" style="width:{sum(widths)}%">'
        + "".join(f'<i class="fs-neutral" style="flex:{width}"></i>' for width in widths)
        + "</div>"
        for widths in NEUTRAL.get(preset, ((60,), (30,)))
    )
    return bars + '<p class="fs-caption fs-muted">No answer measured here yet.</p>'
