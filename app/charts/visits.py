"""First visits as curves: what each value of the walked axis costs the first time, and fainter the second (SVG).

The drawing stretches with the page; what is written stands beside it in HTML and keeps its size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from app.charts.axes import LogScale, round_ticks, spread
from app.charts.markup import variant
from app.charts.visit_tables import walk_table
from profiles.comparison.entry import Entry
from profiles.comparison.figures import prose_time
from profiles.comparison.visits import axis_noun, visits, walked, walked_axis
from profiles.visits import Visit

HEIGHT_PX = 260
NAME_PX = 17
SIDE = 1000  # of the drawing's own square, which is stretched
MOST_COLOURS = 7
MOST_MARKS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """`style` numbers colour, dash and mark; 0 is the baseline's ink."""

    entry: Entry
    visits: tuple[Visit, ...]
    style: int


@dataclass(frozen=True, slots=True)
class _Frame:
    first: int
    last: int
    scale: LogScale

    def x(self, value: int) -> float:
        return 0.5 if self.first == self.last else (value - self.first) / (self.last - self.first)

    def y(self, ns: float) -> float:
        return self.scale.place(ns)


def visits_html(entries: Sequence[Entry], *, base_key: str | None) -> str:
    """The chart with its numbers folded below it; empty where nothing was walked."""
    axis, costs = walked_axis(entries), walked(entries)
    if axis is None:
        return ""
    noun = axis_noun(entries[0].workload, axis)
    lines = _lines([cost.entry for cost in costs], base_key)
    frame = _frame(lines)
    aside = f"one call at each new {noun}, in a process of each variant’s own; fainter, the second call there"
    title = f'<div class="fs-section"><h2>First visits</h2><span>{escape(aside)}</span></div>'
    many = " many" if len(lines) > MOST_COLOURS else ""
    plot = f"{_y_axis(frame)}{_drawing(lines, frame, noun)}{_leaders(lines, frame)}{_names(lines, frame)}"
    chart = f'<div class="fs-plot{many}" style="--height:{HEIGHT_PX}px">{plot}{_x_axis(frame, noun)}</div>'
    return f'<div class="fs fs-visits">{title}{chart}{walk_table(costs, noun)}</div>'


def _lines(entries: Sequence[Entry], base_key: str | None) -> list[_Line]:
    """The baseline in ink, the others in the order of their keys: no sorting changes a colour."""
    fixed = sorted(entries, key=lambda entry: (len(entry.key), entry.key))
    others = [entry for entry in fixed if entry.key != base_key]
    return [
        _Line(entry=e, visits=visits(e), style=0 if e.key == base_key else 1 + others.index(e) % (MOST_COLOURS - 1))
        for e in fixed
    ]


def _frame(lines: Sequence[_Line]) -> _Frame:
    made = [visit for line in lines for visit in line.visits]
    values, times = [v.value for v in made], [ns for v in made for ns in (v.first_ns, v.second_ns)]
    return _Frame(min(values), max(values), LogScale.over(min(times), max(times)))


def _drawing(lines: Sequence[_Line], frame: _Frame, noun: str) -> str:
    said = f"First visits by {noun} {frame.first} to {frame.last}; their medians stand in the table below."
    grid = "".join(f'<path class="grid" d="M0 {_number(frame.y(ns))}H{SIDE}"/>' for ns in frame.scale.ticks)
    drawn = "".join(_drawn(line, frame) for line in lines)
    return (
        f'<svg class="fs-plot-area" viewBox="0 0 {SIDE} {SIDE}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(said)}"><title>{escape(said)}</title>{grid}{drawn}</svg>'
    )


def _drawn(line: _Line, frame: _Frame) -> str:
    first = _path([(frame.x(v.value), frame.y(v.first_ns)) for v in line.visits])
    second = _path([(frame.x(v.value), frame.y(v.second_ns)) for v in line.visits])
    every = math.ceil(len(line.visits) / MOST_MARKS)
    marks = "".join(f"M{_number(frame.x(v.value))} {_number(frame.y(v.first_ns))}h0" for v in line.visits[::every])
    last = line.visits[-1]
    title = f"{line.entry.variant}: {prose_time(last.first_ns)} at {last.value}, then {prose_time(last.second_ns)}"
    return (
        f'<g class="line n{line.style}"><title>{escape(title)}</title><path class="second" d="{second}"/>'
        f'<path class="first" d="{first}"/><path class="marks" d="{marks}"/><path class="reach" d="{first}"/></g>'
    )


def _leaders(lines: Sequence[_Line], frame: _Frame) -> str:
    """From a line's end to its name, which may have had to make room."""
    paths = "".join(
        f'<path class="first n{line.style}" d="M0 {_number(end)}L{SIDE} {_number(place)}"/>'
        for line, end, place in _placed(lines, frame)
    )
    return (
        f'<svg class="fs-plot-leaders" viewBox="0 0 {SIDE} {SIDE}" preserveAspectRatio="none" aria-hidden="true">'
        f"{paths}</svg>"
    )


def _names(lines: Sequence[_Line], frame: _Frame) -> str:
    longest = max(len(line.entry.variant) for line in lines)
    names = "".join(
        f'<span style="top:{place * 100:.2f}%">{variant(line.entry.variant)}</span>'
        for line, _, place in _placed(lines, frame)
    )
    return f'<div class="fs-plot-names" style="--letters:{longest}">{names}</div>'


def _placed(lines: Sequence[_Line], frame: _Frame) -> list[tuple[_Line, float, float]]:
    """(line, where it ends, where its name stands), as shares of the height from the top."""
    ends = [frame.y(line.visits[-1].first_ns) for line in lines]
    return list(zip(lines, ends, spread(ends, apart=NAME_PX / HEIGHT_PX), strict=True))


def _y_axis(frame: _Frame) -> str:
    ticks = "".join(
        f'<span style="top:{frame.y(ns) * 100:.2f}%">{escape(_tick(ns))}</span>' for ns in frame.scale.ticks
    )
    return f'<div class="fs-plot-y" aria-hidden="true">{ticks}</div>'


def _x_axis(frame: _Frame, noun: str) -> str:
    ticks = "".join(
        f'<span style="left:{frame.x(value) * 100:.2f}%">{value:,}</span>'
        for value in round_ticks(frame.first, frame.last)
    )
    return f'<div class="fs-plot-x" aria-hidden="true">{ticks}<b>{escape(noun)}</b></div>'


def _tick(ns: float) -> str:
    """`10 µs`, `0.1 ms` is `100 µs`: whole numbers with the unit that has them."""
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns >= size:
            return f"{ns / size:,.4g} {unit}"
    return f"{ns:,.4g} ns"


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in points)


def _number(share: float) -> str:
    return f"{share * SIDE:.1f}"
