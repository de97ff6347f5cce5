"""The roofline in plain HTML, all that `st.html` lets through: there with the first paint, in the theme's colours."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from app.charts.axes import spread
from app.charts.markup import variant
from profiles.comparison.entry import Entry
from profiles.comparison.figures import digits
from profiles.comparison.limits import Standing
from profiles.comparison.rates import per_second
from profiles.comparison.roofline import Point, Roof, Roofline, roofline

# All in px.
WIDTH, HEIGHT = 680, 330
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 30, 44
LINE = 16  # between labels
LOWEST = HEIGHT - BOTTOM - 9  # of a label's middle
CHARACTER = 7.6  # of a label, its key included
ROOM = 14  # from a point to its label

LEAST = (
    "Hollow points stand at the least bytes: what these variants move is not known, and they may belong further left."
)


@dataclass(frozen=True, slots=True)
class _Axes:
    """Logarithmic both; intensities in FLOP/byte, rates in TFLOP/s."""

    x: tuple[float, float]
    y: tuple[float, float]

    def at_x(self, intensity: float) -> float:
        return LEFT + _share(intensity, self.x) * (WIDTH - LEFT - RIGHT)

    def at_y(self, rate: float) -> float:
        return HEIGHT - BOTTOM - _share(rate, self.y) * (HEIGHT - TOP - BOTTOM)


def roofline_html(standings: Sequence[tuple[Entry, Standing]], *, base_key: str | None) -> str:
    """Empty where there is nothing to draw: an operation without FLOPs, a device without ceilings."""
    drawn = roofline(standings)
    if drawn is None:
        return ""
    axes = _axes(drawn)
    roofs = "".join(_roof(roof, axes, named=len(drawn.roofs) > 1) for roof in drawn.roofs)
    points = "".join(_points(drawn.points, axes, base_key))
    note = "" if all(point.exact for point in drawn.points) else f'<p class="fs-alike">{LEAST}</p>'
    box = f'<div class="fs-roofline" role="img" aria-label="{escape(_spoken(drawn))}">'
    return f'<div class="fs-scroll">{box}{"".join(_grid(axes))}{roofs}{points}</div></div>{note}'


def _axes(drawn: Roofline[Entry]) -> _Axes:
    """Whole decades around the points; the ridge and the roofs are in sight, with room for labels at the right."""
    intensities = [p.intensity for p in drawn.points] + [roof.ridge for roof in drawn.roofs]
    rates = [p.tflop_per_s for p in drawn.points]
    top = max([*rates, *(roof.tflop_per_s for roof in drawn.roofs)])
    return _Axes(
        x=(10 ** math.floor(math.log10(min(intensities) / 1.5)), 10 ** math.ceil(math.log10(max(intensities) * 4))),
        y=(10 ** math.floor(math.log10(min(rates) / 1.5)), top * 1.6),
    )


def _share(value: float, ends: tuple[float, float]) -> float:
    low, high = (math.log10(end) for end in ends)
    return (math.log10(value) - low) / (high - low)


def _grid(axes: _Axes) -> Iterator[str]:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    for x in _decades(axes.x):
        yield _stroke("grid", (axes.at_x(x), bottom), (axes.at_x(x), TOP))
        last = axes.at_x(x) > right - 1
        yield _text("tick end" if last else "tick mid", (axes.at_x(x), bottom + 5), _tick(x))
    for y in _decades(axes.y):
        yield _stroke("grid", (LEFT, axes.at_y(y)), (right, axes.at_y(y)))
        yield _text("tick end", (LEFT - 7, axes.at_y(y) - 8), _tick(y))
    yield _text("tick end", (right, bottom + 22), "useful FLOPs per byte")
    yield _text("tick", (0, 0), "useful TFLOP/s")


def _decades(ends: tuple[float, float]) -> list[float]:
    low, high = math.ceil(math.log10(ends[0]) - 1e-9), math.floor(math.log10(ends[1]) + 1e-9)
    return [10.0**exponent for exponent in range(low, high + 1)]


def _tick(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _roof(roof: Roof, axes: _Axes, *, named: bool) -> str:
    """Up along the memory's bandwidth to the ridge, then flat."""
    left = max(axes.x[0], axes.y[0] * 1e3 / roof.gb_per_s)
    start = axes.at_x(left), axes.at_y(roof.at(left))
    ridge = axes.at_x(roof.ridge), axes.at_y(roof.tflop_per_s)
    end = axes.at_x(axes.x[1]), ridge[1]
    whose = f" on {escape(roof.device)}" if named else ""
    matmul = f"matmul {per_second(roof.tflop_per_s * 1e12, 'FLOP')}{whose}"
    tilt = math.degrees(math.atan2(ridge[1] - start[1], ridge[0] - start[0]))
    middle = (start[0] + ridge[0]) / 2, (start[1] + ridge[1]) / 2
    along = f"transform:translate(-50%,-100%) rotate({tilt:.1f}deg) translate(0,-2px)"
    return (
        _stroke("roof", start, ridge)
        + _stroke("roof", ridge, end)
        + _text("tick end", (end[0], end[1] + 3), matmul)
        + _text("tick along", middle, f"memory {per_second(roof.gb_per_s * 1e9, 'B')}", style=along)
    )


def _points(points: Sequence[Point[Entry]], axes: _Axes, base_key: str | None) -> Iterator[str]:
    """Labels make room for each other, within the frame."""
    places = [(axes.at_x(point.intensity), axes.at_y(point.tflop_per_s)) for point in points]
    labels = spread([y / LOWEST for _, y in places], apart=LINE / LOWEST)
    for point, at, label in zip(points, places, labels, strict=True):
        yield _point(point, at, label * LOWEST, filled=point.entry.key == base_key)


def _point(point: Point[Entry], at: tuple[float, float], label_y: float, *, filled: bool) -> str:
    name = f"{point.entry.key} {point.entry.variant}"
    fits = at[0] + ROOM + CHARACTER * len(name) < WIDTH
    label = (at[0] + (ROOM if fits else -ROOM), label_y)
    title = f"{name}: {digits(point.tflop_per_s)} TFLOP/s at {digits(point.intensity)} FLOP/byte"
    key = f'<b class="{"base" if filled else ""}">{escape(point.entry.key)}</b>'
    kind = "point" if point.exact else "point hollow"
    return (
        _stroke("leader", at, label)
        + f'<i class="{kind}" style="left:{at[0]:.1f}px;top:{at[1]:.1f}px" title="{escape(title)}"></i>'
        + _text("name" if fits else "name end", (label[0], label[1] - 9), f"{key} {variant(point.entry.variant)}")
    )


def _stroke(kind: str, start: tuple[float, float], end: tuple[float, float]) -> str:
    """A straight line: a box as long as it is, turned about its start."""
    across, down = end[0] - start[0], end[1] - start[1]
    return (
        f'<i class="{kind}" style="left:{start[0]:.1f}px;top:{start[1]:.1f}px;width:{math.hypot(across, down):.1f}px;'
        f'transform:rotate({math.degrees(math.atan2(down, across)):.2f}deg)"></i>'
    )


def _text(kind: str, at: tuple[float, float], html: str, *, style: str = "") -> str:
    """`at` is its upper left, of an `end` its upper right, of a `mid` the middle of its upper edge."""
    return f'<span class="{kind}" style="left:{at[0]:.1f}px;top:{at[1]:.1f}px;{style}">{html}</span>'


def _spoken(drawn: Roofline[Entry]) -> str:
    told = [f"{p.entry.variant} {digits(p.tflop_per_s)} TFLOP/s" for p in drawn.points]
    return f"Roofline: {', '.join(told)}; at most {digits(max(roof.tflop_per_s for roof in drawn.roofs))} TFLOP/s"
