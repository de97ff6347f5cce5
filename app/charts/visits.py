"""First visits as curves: what each value of the walked axis costs the first time, and fainter the second.

The curves stretch with the page; what is written stands beside them and keeps its size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from app.charts.axes import LogScale, round_ticks, spread
from app.charts.curves import STYLES, layer, marked_line, plain_line
from app.charts.markup import variant
from app.charts.visit_tables import walk_table
from profiles.comparison.entry import Entry
from profiles.comparison.figures import prose_time
from profiles.comparison.visits import axis_noun, visits, walked, walked_axis
from profiles.visits import Visit

HEIGHT_PX = 260
NAME_PX = 17
MARGIN = 0.008  # at both ends of the values, for the marks
MOST_POINTS = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """`style` is that of its curve, `number` tells it from all others."""

    entry: Entry
    visits: tuple[Visit, ...]
    style: int
    number: int

    @property
    def classes(self) -> str:
        return f"n{self.style} l{self.number}"


@dataclass(frozen=True, slots=True)
class _Frame:
    first: int
    last: int
    scale: LogScale

    def x(self, value: int) -> float:
        share = 0.5 if self.first == self.last else (value - self.first) / (self.last - self.first)
        return MARGIN + share * (1 - 2 * MARGIN)

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
    plot = f"{_y_axis(frame)}{_drawing(lines, frame, noun)}{_leaders(lines, frame)}{_names(lines, frame)}"
    plot = f"{plot}{_x_axis(frame, noun)}"
    if len(lines) > len(STYLES):
        chart = f'{_hovering(lines)}<div class="fs-plot many" style="--height:{HEIGHT_PX}px">{plot}</div>'
    else:
        chart = f'<div class="fs-plot" style="--height:{HEIGHT_PX}px">{plot}</div>'
    return f'<div class="fs fs-visits">{title}{chart}{walk_table(costs, noun, base_key=base_key)}</div>'


def _lines(entries: Sequence[Entry], base_key: str | None) -> list[_Line]:
    """The baseline in ink, the others in the order of their keys: no sorting changes a colour."""
    fixed = sorted(entries, key=lambda entry: (len(entry.key), entry.key))
    others = [entry for entry in fixed if entry.key != base_key]
    return [
        _Line(
            entry=entry,
            visits=visits(entry),
            style=0 if entry.key == base_key else 1 + others.index(entry) % (len(STYLES) - 1),
            number=number,
        )
        for number, entry in enumerate(fixed)
    ]


def _frame(lines: Sequence[_Line]) -> _Frame:
    made = [visit for line in lines for visit in line.visits]
    values, times = [v.value for v in made], [ns for v in made for ns in (v.first_ns, v.second_ns)]
    return _Frame(min(values), max(values), LogScale.over(min(times), max(times)))


def _hovering(lines: Sequence[_Line]) -> str:
    """More lines than colours are all grey, but the one whose name is pointed at."""
    rules = "".join(f".fs .fs-plot.many:has(span.l{n}:hover) i.l{n}{{--line:var(--fs-ink)}}" for n in range(len(lines)))
    return f"<style>{rules}</style>"


def _drawing(lines: Sequence[_Line], frame: _Frame, noun: str) -> str:
    said = f"First visits by {noun} {frame.first} to {frame.last}; their medians stand in the table below."
    grid = "".join(f'<i class="grid" style="top:{frame.y(ns) * 100:.2f}%"></i>' for ns in frame.scale.ticks)
    seconds = "".join(layer(f"second {line.classes}", _second(line, frame)) for line in lines)
    firsts = "".join(layer(f"first {line.classes}", _first(line, frame)) for line in lines)
    return f'<div class="fs-plot-area" role="img" aria-label="{escape(said)}">{grid}{seconds}{firsts}</div>'


def _first(line: _Line, frame: _Frame) -> str:
    return marked_line([(frame.x(v.value), frame.y(v.first_ns)) for v in _drawn(line.visits)], line.style)


def _second(line: _Line, frame: _Frame) -> str:
    return plain_line([(frame.x(v.value), frame.y(v.second_ns)) for v in _drawn(line.visits)])


def _drawn(made: Sequence[Visit]) -> list[Visit]:
    """All where they are few, else of each stretch the one whose first visit is dearest: no peak of those is lost."""
    stretch = math.ceil(len(made) / MOST_POINTS)
    stretches = (made[start : start + stretch] for start in range(0, len(made), stretch))
    return [max(visits, key=lambda visit: visit.first_ns) for visits in stretches]


def _leaders(lines: Sequence[_Line], frame: _Frame) -> str:
    """From a line's end to its name, which may have had to make room."""
    layers = "".join(
        layer(f"leader {line.classes}", plain_line([(0, end), (1, place)]))
        for line, end, place in _placed(lines, frame)
    )
    return f'<div class="fs-plot-leaders" aria-hidden="true">{layers}</div>'


def _names(lines: Sequence[_Line], frame: _Frame) -> str:
    longest = 1 + max(len(line.entry.variant) for line in lines)  # a space stands before the execution
    names = "".join(
        f'<span class="l{line.number}" style="top:{place * 100:.2f}%" title="{escape(_last(line))}">'
        f"{variant(line.entry.variant)}</span>"
        for line, _, place in _placed(lines, frame)
    )
    return f'<div class="fs-plot-names" style="--letters:{longest}">{names}</div>'


def _last(line: _Line) -> str:
    last = line.visits[-1]
    return f"{prose_time(last.first_ns)} at {last.value}, then {prose_time(last.second_ns)}"


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
    """`100 µs`, `1 ms`: a number with the unit that has it whole."""
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns >= size:
            return f"{ns / size:,.4g} {unit}"
    return f"{ns:,.4g} ns"
