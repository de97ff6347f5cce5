"""The variant table: one row per variant, what ran, what it launched, what it took, and how much faster that is."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from app.charts.columns import FIGURES, Column, Frame, columns, frame
from app.charts.markup import empty_key, key_box, variant
from app.formatting import plural
from app.markup import Tone, badge
from profiles.comparison.entry import Entry, State
from profiles.comparison.reason import advice
from profiles.comparison.speed import By
from profiles.comparison.table import Completeness, Row
from profiles.results import Failure

LABELS = {
    State.FAILED: ("failed", Tone.BAD),
    State.CANCELLED: ("cancelled", Tone.IDLE),
    State.MISSING: ("not measured", Tone.IDLE),
    State.PENDING: ("to come", Tone.RUN),
    State.REFUSED: ("refused", Tone.IDLE),
}


def table_html(rows: Sequence[Row[Entry]], *, by: By) -> str:
    """One section's rows; numbered notes under the table repeat every doubt, since touch has no hover."""
    base = next((row.entry.key for row in rows if row.is_baseline), None)
    shared = frame(rows, by=by, base_key=base)
    shown = columns(shared)
    head = '<th scope="col">Variant</th>' + "".join(_head(column, shared) for column in shown)
    body = "".join(_row(row, shown, shared) for row in rows)
    table = f'<table class="fs-variants"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f'<div class="fs"><div class="fs-scroll">{table}</div>{shared.doubts.notes()}</div>'


def completeness_text(counts: Completeness) -> str:
    """`7 measured · 1 refused · 1 number in doubt`."""
    told = (
        (counts.measured, "measured"),
        (counts.incorrect, "incorrect"),
        (counts.failed, "failed"),
        (counts.cancelled, "cancelled"),
        (counts.missing, "not measured"),
        (counts.pending, "to come"),
        (counts.refused, "refused"),
    )
    doubts = [f"{plural(counts.doubtful_in_all, 'number')} of every run in doubt"] if counts.doubtful_in_all else []
    more = " more" if doubts else ""
    doubts += [f"{plural(counts.doubtful, f'{more} number'.strip())} in doubt"] if counts.doubtful else []
    return " · ".join([*(f"{number} {word}" for number, word in told if number), *doubts])


def _head(column: Column, shared: Frame) -> str:
    head = shared.doubts.mark_all(escape(column.head), column.doubts)
    beside = f'<span class="wide">, {escape(column.beside)}</span>' if column.beside else ""
    unit = f"<small>{escape(column.unit)}{beside}</small>" if column.unit else ""
    return f'<th scope="col" class="{column.classes}">{head}{unit}</th>'


def _row(row: Row[Entry], shown: Sequence[Column], shared: Frame) -> str:
    run = row.entry.run
    if run is None or row.state not in FIGURES:
        return _without_figures(row, len(shown))
    name = f'<th scope="row">{key_box(row.entry.key, filled=row.is_baseline)} {variant(row.entry.variant)}</th>'
    cells = "".join(f'<td class="{c.classes}">{c.cell(row, run, shared)}</td>' for c in shown)
    return f'<tr class="{"baseline" if row.is_baseline else row.state}">{name}{cells}</tr>'


def _without_figures(row: Row[Entry], width: int) -> str:
    """The state, and the reason across the columns of figures."""
    refused = row.state is State.REFUSED
    key = empty_key() if refused else key_box(row.entry.key)
    failure = row.entry.run.failure if row.entry.run is not None else None
    label = badge(*LABELS[row.state])
    return (
        f'<tr class="{"refused" if refused else row.state}"><th scope="row">{key} {variant(row.entry.variant)}</th>'
        f'<td colspan="{width}" class="fs-reason">{label} {_reason(failure, refused=refused)}</td></tr>'
    )


def _reason(failure: Failure | None, *, refused: bool) -> str:
    if failure is None:
        return ""
    if refused:
        return f"<span>{escape(failure.message)}</span>"
    help_text = advice(failure)
    after = f" <span>{escape(help_text)}</span>" if help_text else ""
    return f'<code class="fs-kind">{escape(failure.kind)}</code> <code>{escape(failure.message)}</code>{after}'
