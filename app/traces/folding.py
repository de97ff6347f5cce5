"""Tables of what differs: a head, the first rows, and the others in a fold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import TypeVar

from app.charts.doubts import Doubts

SHOWN = 12
MOST_ROWS = 200

T = TypeVar("T")


def head_html(*columns: tuple[str, str, str]) -> str:
    cells = "".join(
        f'<th scope="col" class="{css}">{escape(name)}{f"<small>{escape(unit)}</small>" if unit else ""}</th>'
        for name, unit, css in columns
    )
    return f"<thead><tr>{cells}</tr></thead>"


def folding_html(
    css: str, head: str, items: Sequence[T], *, row: Callable[[T], str], doubts: Doubts, shown: int = SHOWN
) -> str:
    """A `row` of each: the first `shown`, the others in a fold of the same columns; how many are left out is told."""
    rows, left = [row(item) for item in items[:MOST_ROWS]], len(items) - MOST_ROWS
    rest = ""
    if len(rows) > shown:
        more = f"<summary>{len(rows) - shown} {'more' if shown else 'kernels'}</summary>"
        note = f'<p class="fs-fold-lead">{left:,} more in the JSON.</p>' if left > 0 else ""
        rest = f'<details class="fs-fold">{more}{_table(css, head, rows[shown:])}{note}</details>'
    first = _table(css, head, rows[:shown]) if shown else ""
    return f'<div class="fs">{first}{doubts.notes()}{rest}</div>'


def _table(css: str, head: str, rows: Sequence[str]) -> str:
    return f'<div class="fs-scroll"><table class="{css}">{head}<tbody>{"".join(rows)}</tbody></table></div>'
