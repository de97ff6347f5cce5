"""Bars by role: small ones in the table, on one linear scale, and the larger ones beside the ledger."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape

from app.charts.markup import key_box, swatch, variant
from profiles.comparison.entry import Entry
from profiles.comparison.figures import percent, prose_time
from profiles.comparison.roles import RoleTime, by_role, segments, traced_ns
from profiles.results import Role, Run

PAST_LONGEST = 1.35
STEPS = (1, 2, 2.5, 5, 10)


def small_bar(run: Run, longest_ns: int) -> str:
    """In launch order; its length is the traced time on the table's common scale."""
    whole = traced_ns(run)
    if not whole or not longest_ns:
        return ""
    blocks = "".join(_block(part, longest_ns) for part in segments(run))
    return f'<div class="fs-stack small" role="img" aria-label="{escape(_spoken(run))}">{blocks}</div>'


def bars_html(entries: Sequence[Entry], *, base_key: str | None, subtitle: str) -> str:
    """Where the time goes, one bar for each entry with kernels; empty where none has any."""
    drawn = [(entry, entry.run) for entry in entries if entry.run is not None and entry.run.kernels]
    if not drawn:
        return ""
    longest = max(traced_ns(run) for _, run in drawn)
    top, ticks = scale(longest)
    rows = "".join(_bar(entry, run, top, filled=entry.key == base_key) for entry, run in drawn)
    title = f'<div class="fs-section"><h2>Where the time goes</h2><span>{escape(subtitle)}</span></div>'
    roles = {part.role for _, run in drawn for part in by_role(run)}
    return f'<div class="fs">{title}<div class="fs-bars">{rows}{axis(ticks, top)}</div>{legend(roles)}</div>'


def _bar(entry: Entry, run: Run, top_ns: float, *, filled: bool) -> str:
    whole = traced_ns(run)
    blocks = "".join(_block(part, whole) for part in by_role(run))
    label = f'<div class="fs-bar-name">{variant(entry.variant)} {key_box(entry.key, filled=filled)}</div>'
    stack = f'<div class="fs-stack" style="width:{whole / top_ns * 100:.3f}%" role="img" aria-label="{_spoken(run)}">'
    time = f'<span class="fs-muted">{escape(prose_time(whole))}</span>'
    return f'{label}<div class="fs-bar-track">{stack}{blocks}</div>{time}</div>'


def _block(part: RoleTime, whole_ns: float) -> str:
    title = f"{part.label}: {prose_time(part.time_ns)}, {percent(part.share)}"
    width = part.time_ns / whole_ns * 100
    return f'<i class="fs-role-{part.role}" style="width:{width:.3f}%" title="{escape(title)}"></i>'


def _spoken(run: Run) -> str:
    return escape(", ".join(f"{part.role} {percent(part.share)}" for part in by_role(run)))


def scale(longest_ns: int) -> tuple[float, list[float]]:
    """The axis' end, a little past the longest bar for its label, and round ticks within the bars' extent."""
    rough = longest_ns / 3
    magnitude = 10 ** (len(str(int(rough))) - 1)
    step = next(s * magnitude for s in STEPS if s * magnitude >= rough * 0.8)
    end = longest_ns * PAST_LONGEST
    return end, [step * number for number in range(int(end * 0.95 // step) + 1)]


def axis(ticks: Sequence[float], top_ns: float) -> str:
    marks = "".join(f'<span style="left:{tick / top_ns * 100:.3f}%">{_tick(tick, ticks[-1])}</span>' for tick in ticks)
    return f'<div></div><div class="fs-bar-axis" aria-hidden="true">{marks}</div>'


def _tick(ns: float, last_ns: float) -> str:
    unit, size = ("ms", 1e6) if last_ns >= 1e6 else ("µs", 1e3)
    return f"{ns / size:,.4g} {unit}"


def legend(roles: Collection[Role]) -> str:
    names = "".join(f"<span>{swatch(role)} {role}</span>" for role in Role if role in roles)
    return f'<div class="fs-legend">{names}</div>'
