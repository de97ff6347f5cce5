"""How near a run is to what its device can do: a cell of the variant table, and the sums in words."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from app.charts.markup import key_box, missing, variant
from app.charts.roofline import roofline_html
from profiles.comparison.entry import Entry
from profiles.comparison.figures import prose_time
from profiles.comparison.limits import NOT_TIMED, Standing, share_words
from profiles.comparison.table import Row


def limit_cell(found: Standing | None) -> str:
    """`88 % memory-bound`, with the sum on hover."""
    if found is None or found.share is None:
        return missing(found.text if found is not None else NOT_TIMED)
    label = f' <span class="fs-muted">{found.label}</span>' if found.label else ""
    return f'<span class="fs-nowrap" title="{escape(found.text)}">{share_words(found.share)}{label}</span>'


def limits_html(rows: Sequence[Row[Entry]], *, base_key: str | None) -> str:
    """The roofline, where the operation has FLOPs to count, over the sum of each variant; empty where no device's
    ceilings are known."""
    known = [row for row in rows if row.entry.ceilings is not None]
    standings = [(row.entry, row.standing) for row in known if row.standing is not None]
    if not any(found.share is not None for _, found in standings):
        return ""
    body = "".join(_row(entry, found, filled=entry.key == base_key) for entry, found in standings)
    head = "<thead><tr><th>Variant</th><th class=num>Of limit</th><th class=fs-wrap>Which, and why</th></tr></thead>"
    title = (
        '<div class="fs-section"><h2>Limits</h2><span>against what this device reached on plain kernels</span></div>'
    )
    table = f'<div class="fs-scroll"><table class="fs-limits">{head}<tbody>{body}</tbody></table></div>'
    chart = roofline_html(standings, base_key=base_key)
    told = f"<div>{table}{_waiting(standings)}</div>"
    panel = f'<div class="fs-beside"><div>{chart}</div>{told}</div>' if chart else told
    return f'<div class="fs">{title}{panel}</div>'


def _row(entry: Entry, found: Standing, *, filled: bool) -> str:
    share = missing(found.why) if found.share is None else share_words(found.share)
    others = ", ".join(f"{limit.words}" for limit in (*found.limits, *found.own))
    return (
        f'<tr><th scope="row">{key_box(entry.key, filled=filled)} {variant(entry.variant)}</th>'
        f'<td class="num">{share}</td><td class="fs-wrap fs-muted" title="{escape(others)}">{_sum(found)}</td></tr>'
    )


def _waiting(standings: Sequence[tuple[Entry, Standing]]) -> str:
    """Once for all: no limit of the device explains what the host takes."""
    waiting = [
        f'<span class="fs-nowrap">{variant(entry.variant)} {prose_time(found.host_ns)}</span>'
        for entry, found in standings
        if found.host_ns is not None
    ]
    if not waiting:
        return ""
    wait = "waits" if len(waiting) == 1 else "wait"
    said = f"Called back to back, {len(waiting)} of {len(standings)} {wait} for the host, a call each"
    return f'<p class="fs-alike">{said}: {", ".join(waiting)}</p>'


def _sum(found: Standing) -> str:
    """The label in ink, the sum behind it."""
    label, colon, rest = found.why.partition(": ")
    if found.label is None or not colon:
        return escape(found.why)
    return f'<b class="fs-label">{escape(label)}</b>: {escape(rest)}'
