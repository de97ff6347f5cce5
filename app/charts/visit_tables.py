"""First visits in figures: a walk's medians, and of a fixed shape the first call and the visit to its neighbour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from app.charts.markup import key_box, missing, variant
from profiles.comparison.entry import Entry
from profiles.comparison.figures import digits, prose_time
from profiles.comparison.visits import VisitCost, visits, walked
from profiles.results import Run

NS_PER_MS = 1e6
VISITED = {
    "first_call": ("First call", "new process, ms"),
    "first_shape": ("New shape", "warm process, ms"),
    "second_visit": ("Again", "same shape, ms"),
}
"""Of each metric its column's head, and what stands under it."""


def first_visits_html(entries: Iterable[Entry], *, base_key: str | None) -> str:
    """What first calls and first visits cost beside a steady call; empty where none was measured."""
    measured = [(entry, entry.run) for entry in entries if entry.run is not None and _is_visited(entry.run)]
    if not measured:
        return ""
    shown = [name for name in VISITED if any(run.metric(name) is not None for _, run in measured)]
    rows = "".join(_visited(entry, run, shown, filled=entry.key == base_key) for entry, run in measured)
    name = "First calls" if walked([entry for entry, _ in measured]) else "First visits"  # a walk has that name
    title = f'<div class="fs-section"><h2>{name}</h2><span>single calls, never averaged in</span></div>'
    heads = (VISITED[name] for name in shown)
    head = "".join(f'<th scope="col" class="num">{title}<small>{unit}</small></th>' for title, unit in heads)
    head = f'<th scope="col">Variant</th>{head}'
    table = f'<table class="fs-calls"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    return f'<div class="fs">{title}<div class="fs-scroll">{table}</div>{_notes(measured)}</div>'


def walk_table(costs: Sequence[VisitCost], noun: str, *, base_key: str | None) -> str:
    """A fold with the medians over all values, and the dearest value of each variant."""
    head = (
        '<th scope="col">Variant</th>'
        '<th scope="col" class="num">First visit<small>median, ms</small></th>'
        '<th scope="col" class="num">Second<small>median, ms</small></th>'
        '<th scope="col" class="num">Extra<small>ms</small></th>'
        f'<th scope="col" class="num">Dearest<small>ms, at {escape(noun)}</small></th>'
    )
    rows = "".join(_walked(cost, filled=cost.entry.key == base_key) for cost in costs)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    number = max(len(visits(cost.entry)) for cost in costs)
    summary = f"The numbers: medians over {number:,} values; every visit is in the export"
    return f'<details class="fs-fold"><summary>{summary}</summary><div class="fs-scroll">{table}</div></details>'


def _notes(measured: Iterable[tuple[Entry, Run]]) -> str:
    """What was left out, for those who cannot hover; once for all runs that it is true of."""
    told: dict[str, list[str]] = {}
    for entry, run in measured:
        for note in run.notes:
            told.setdefault(note, []).append(variant(entry.variant))
    items = "".join(f"<li>{', '.join(names)}: {escape(note)}</li>" for note, names in told.items())
    return f'<ul class="fs-notes">{items}</ul>' if items else ""


def _is_visited(run: Run) -> bool:
    return any(run.metric(name) is not None for name in VISITED)


def _visited(entry: Entry, run: Run, shown: Sequence[str], *, filled: bool) -> str:
    cells = "".join(f'<td class="num">{_time(run, name)}</td>' for name in shown)
    name = f"{key_box(entry.key, filled=filled)} {variant(entry.variant)}"
    return f'<tr><th scope="row" class="fs-nowrap">{name}</th>{cells}</tr>'


def _time(run: Run, name: str) -> str:
    metric = run.metric(name)
    if metric is None:
        return missing("not measured; the notes below may say why" if run.notes else "not measured")
    return f'<span title="{_in_words(run, metric.value)}">{_ms(metric.value)}</span>'


def _in_words(run: Run, ns: float) -> str:
    """The time in its own unit, and how many steady calls take as long."""
    call = run.metric("call_time")
    steady = f", as long as {ns / call.value:,.0f} steady calls" if call is not None and call.value > 0 else ""
    return escape(f"{prose_time(ns)}{steady}")


def _walked(cost: VisitCost, *, filled: bool) -> str:
    dearest = max(visits(cost.entry), key=lambda visit: visit.first_ns)
    figures = (cost.first_ns, cost.second_ns, cost.extra_ns)
    cells = "".join(f'<td class="num">{_ms(ns)}</td>' for ns in figures)
    last = f'<td class="num">{_ms(dearest.first_ns)} <span class="fs-muted">at {dearest.value:,}</span></td>'
    name = f'<th scope="row">{key_box(cost.entry.key, filled=filled)} {variant(cost.entry.variant)}</th>'
    return f"<tr>{name}{cells}{last}</tr>"


def _ms(ns: float) -> str:
    return digits(ns / NS_PER_MS)
