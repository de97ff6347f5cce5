"""Numbers of traces as cells: marked where they are in doubt or differ between equal steps, a dash where not told."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from app.charts.doubts import Doubts
from app.charts.markup import ZERO, missing
from app.formatting import count
from profiles.comparison.figures import MICROSECONDS, MILLISECONDS, TimeUnit, ratio
from profiles.comparison.traces.document import Figure
from profiles.trace.printable import printable

NOT_TOLD = "the file does not tell it"
LONG_NS = 100_000_000


def count_cell(figure: Figure, doubts: Doubts, *, of: str = "") -> str:
    """`of` is the letter of the trace, for the note on a doubt."""
    html = _value(figure, count, of)
    unstable = None
    if figure.low is not None and figure.high is not None and figure.low != figure.high:
        html = f"{count(figure.low)}–{count(figure.high)}"
        unstable = f"equal steps differ: {count(figure.low)} to {count(figure.high)}"
    reason = figure.doubt or unstable
    return doubts.mark(html, _noted(reason, of))


def time_cell(figure: Figure, unit: TimeUnit, doubts: Doubts, *, of: str = "") -> str:
    html = _value(figure, unit.write, of)
    if figure.low is not None and figure.high is not None and figure.low != figure.high:
        over = f"over the steps {unit.span(figure.low, figure.high)} {unit.symbol}"
        html = f'<span title="{escape(over)}">{html}</span>'
    return doubts.mark(html, _noted(figure.doubt, of))


def ratio_cell(value: float | None, why: str = "a side has no time here") -> str:
    return missing(why) if value is None else escape(ratio(value))


def change_cell(difference_ns: int | None, unit: TimeUnit) -> str:
    """`+12.3`, `−1.2` in the column's unit."""
    if difference_ns is None:
        return missing(NOT_TOLD)
    if difference_ns == 0:
        return ZERO
    return f"{'+' if difference_ns > 0 else '−'}{unit.write(abs(difference_ns))}"


def unit_for(longest_ns: int) -> TimeUnit:
    """ms where µs would have more than six digits before the point."""
    return MILLISECONDS if longest_ns >= LONG_NS else MICROSECONDS


def _value(figure: Figure, write: Callable[[int], str], of: str) -> str:
    if figure.value is None:
        return missing(_noted(figure.doubt, of) or NOT_TOLD)
    return escape(write(figure.value)) if figure.value else ZERO


def _noted(reason: str | None, of: str) -> str | None:
    return None if reason is None else printable(f"{of}: {reason}" if of else reason)
