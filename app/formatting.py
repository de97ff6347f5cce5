"""Counts, sizes, errors, spans of time and moments as people read them. Pure: no clock is read here.

Times and ratios of measurements are `profiles.comparison.figures`' to write, for pages and stored answers alike.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from itertools import pairwise

NOT_RECORDED = "–"
GIB = 1 << 30
MIB = 1 << 20


def count(value: int | None) -> str:
    """`2,112`; a dash where it was not recorded."""
    return NOT_RECORDED if value is None else f"{value:,}"


def plural(value: int, noun: str, many: str | None = None) -> str:
    """`1 kernel`, `5 kernels`, `2 copies`."""
    return f"{value:,} {noun if value == 1 else many or noun + 's'}"


def microseconds(ns: float | None) -> str:
    """`4,531.5`: the figure of a column in µs."""
    return NOT_RECORDED if ns is None else f"{ns / 1e3:,.1f}"


def three_digits(value: float) -> str:
    """Three significant digits for what is above 1, two decimals below: `254`, `25.4`, `7.60`, `0.45`.

    Below 0.1 the digits are kept instead (`0.0452`), so that a small ratio is not rounded away.
    """
    magnitude = abs(value)
    decimals = next((d for limit, d in ((99.95, 0), (9.995, 1), (0.0995, 2)) if magnitude >= limit), 4)
    return f"{value:,.{decimals}f}"


def memory(size: float) -> str:
    """`2,112 MiB` under 10 GiB, `139.8 GiB` above."""
    return f"{size / MIB:,.0f} MiB" if size < 10 * GIB else f"{size / GIB:,.1f} GiB"


def error(value: float | None) -> str:
    """`2.0e-3`, without the exponent's leading zero."""
    if value is None:
        return NOT_RECORDED
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    return "0" if value == 0 else f"{mantissa}e{int(exponent)}"


def thousands(value: float) -> str:
    """`169k`, `1.25M`; below a thousand the whole number."""
    for factor, suffix in ((1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{three_digits(value / factor)}{suffix}"
    return f"{value:,.0f}"


def seconds(value: float) -> str:
    """How long something took: `0.8 s`, `38 s`, `1 min 12 s`, `2 h 5 min`."""
    if value < 0.95:
        return f"{value:.1f} s"
    whole = round(value)
    units = ((3600, "h"), (60, "min"), (1, "s"))
    for (large, large_name), (small, small_name) in pairwise(units):
        if whole >= large:
            rest = whole % large // small
            return f"{whole // large} {large_name}" + (f" {rest} {small_name}" if rest else "")
    return f"{whole} s"


def about(value: float) -> str:
    """An expectation, rounded as expectations deserve: `about 40 s`, `about 3 min`."""
    if value >= 90:
        return f"about {seconds(round(value / 60) * 60)}"
    step = 5 if value >= 20 else 1
    return f"about {max(step, round(value / step) * step)} s"


def moment(when: datetime, zone: tzinfo = UTC) -> str:
    """`28 Nov 2026, 14:22` in the reader's zone."""
    local = when.astimezone(zone)
    return f"{day(when, zone)}, {local:%H:%M}"


def day(when: datetime, zone: tzinfo = UTC) -> str:
    """`28 Nov 2026`."""
    local = when.astimezone(zone)
    return f"{local.day} {local:%b %Y}"


def clock(when: datetime, zone: tzinfo = UTC) -> str:
    """`14:22:08`."""
    return f"{when.astimezone(zone):%H:%M:%S}"


def ago(when: datetime, now: datetime, zone: tzinfo = UTC) -> str:
    """`just now`, `4 min ago`, `2 h ago`, `yesterday`, `26 Nov`, with the year where it is another one."""
    passed = (now - when).total_seconds()
    if passed < 60:
        return "just now"
    if passed < 3600:
        return f"{int(passed // 60)} min ago"
    then, today = when.astimezone(zone), now.astimezone(zone)
    days = (today.date() - then.date()).days
    if days == 0:
        return f"{int(passed // 3600)} h ago"
    if days == 1:
        return "yesterday"
    return f"{then.day} {then:%b}" if then.year == today.year else day(when, zone)
