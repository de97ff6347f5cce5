"""The roofline as SVG: it is there with the first paint, prints, and follows the theme."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from profiles.comparison.entry import Entry
from profiles.comparison.figures import digits
from profiles.comparison.limits import Standing
from profiles.comparison.rates import per_second
from profiles.comparison.roofline import Point, Roof, Roofline, roofline

WIDTH, HEIGHT = 660, 320
LEFT, RIGHT, TOP, BOTTOM = 46, 16, 16, 40
LINE = 15  # between labels
CHARACTER = 6.9  # of a label's mono, in px


@dataclass(frozen=True, slots=True)
class _Axes:
    """Logarithmic both; intensities in FLOP/byte, rates in TFLOP/s."""

    x: tuple[float, float]
    y: tuple[float, float]

    def at_x(self, intensity: float) -> float:
        return LEFT + _share(intensity, self.x) * (WIDTH - LEFT - RIGHT)

    def at_y(self, rate: float) -> float:
        return HEIGHT - BOTTOM - _share(rate, self.y) * (HEIGHT - TOP - BOTTOM)


def roofline_svg(standings: Sequence[tuple[Entry, Standing]], *, base_key: str | None) -> str:
    """Empty where there is nothing to draw: an operation without FLOPs, a device without ceilings."""
    drawn = roofline(standings)
    if drawn is None:
        return ""
    axes = _axes(drawn)
    roofs = "".join(_roof(roof, axes, named=len(drawn.roofs) > 1) for roof in drawn.roofs)
    points = "".join(_points(drawn.points, axes, base_key))
    hollow = any(not point.exact for point in drawn.points)
    note = (
        '<p class="fs-alike">Hollow points stand at the least bytes: what these variants move is not known, and they'
        " may belong further left.</p>"
        if hollow
        else ""
    )
    return (
        f'<svg class="fs-roofline" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(_spoken(drawn))}">'
        f"{_grid(axes)}{roofs}{points}</svg>{note}"
    )


def _axes(drawn: Roofline[Entry]) -> _Axes:
    """Whole decades around the points; the ridge and both roofs are in sight."""
    intensities = [p.intensity for p in drawn.points] + [roof.ridge for roof in drawn.roofs]
    rates = [p.tflop_per_s for p in drawn.points]
    top = max([*rates, *(roof.tflop_per_s for roof in drawn.roofs)])
    return _Axes(
        x=(10 ** math.floor(math.log10(min(intensities) / 1.5)), 10 ** math.ceil(math.log10(max(intensities) * 3))),
        y=(10 ** math.floor(math.log10(min(rates) / 1.5)), top * 2),
    )


def _share(value: float, ends: tuple[float, float]) -> float:
    low, high = (math.log10(end) for end in ends)
    return (math.log10(value) - low) / (high - low)


def _grid(axes: _Axes) -> str:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    lines = []
    for x in _decades(axes.x):
        at = axes.at_x(x)
        lines.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{bottom}"/>')
        lines.append(f'<text x="{at:.1f}" y="{bottom + 15}" text-anchor="middle">{_tick(x)}</text>')
    for y in _decades(axes.y):
        at = axes.at_y(y)
        lines.append(f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}"/>')
        lines.append(f'<text x="{LEFT - 7}" y="{at + 4:.1f}" text-anchor="end">{_tick(y)}</text>')
    lines.append(f'<text x="{right}" y="{bottom + 31}" text-anchor="end">useful FLOPs per byte</text>')
    lines.append(f'<text x="{LEFT - 38}" y="{TOP - 5}">useful TFLOP/s</text>')
    return "".join(lines)


def _decades(ends: tuple[float, float]) -> list[float]:
    low, high = math.ceil(math.log10(ends[0]) - 1e-9), math.floor(math.log10(ends[1]) + 1e-9)
    return [10.0**exponent for exponent in range(low, high + 1)]


def _tick(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _roof(roof: Roof, axes: _Axes, *, named: bool) -> str:
    """Up along the memory's bandwidth to the ridge, then flat."""
    left = max(axes.x[0], axes.y[0] * 1e3 / roof.gb_per_s)
    start, ridge, end = axes.at_x(left), axes.at_x(roof.ridge), axes.at_x(axes.x[1])
    low, high = axes.at_y(roof.at(left)), axes.at_y(roof.tflop_per_s)
    path = f'<polyline class="roof" points="{start:.1f},{low:.1f} {ridge:.1f},{high:.1f} {end:.1f},{high:.1f}"/>'
    whose = f" on {roof.device}" if named else ""
    matmul = f"{per_second(roof.tflop_per_s * 1e12, 'FLOP')} of a plain matmul{whose}"
    tilt = math.degrees(math.atan2(high - low, ridge - start))
    middle = ((start + ridge) / 2, (low + high) / 2)
    memory = per_second(roof.gb_per_s * 1e9, "B")
    return (
        f'{path}<text class="of-roof" x="{end:.1f}" y="{high - 6:.1f}" text-anchor="end">{escape(matmul)}</text>'
        f'<text class="of-roof" text-anchor="middle" transform="translate({middle[0]:.1f} {middle[1]:.1f})'
        f' rotate({tilt:.1f}) translate(0 -6)">{memory} of memory</text>'
    )


def _points(points: Sequence[Point[Entry]], axes: _Axes, base_key: str | None) -> list[str]:
    """From the top down, each label at least a line below the one before."""
    drawn, free = [], -math.inf
    for point in points:
        x, y = axes.at_x(point.intensity), axes.at_y(point.tflop_per_s)
        label_y = max(y + 4, free)
        free = label_y + LINE
        drawn.append(_point(point, x, y, label_y, filled=point.entry.key == base_key))
    return drawn


def _point(point: Point[Entry], x: float, y: float, label_y: float, *, filled: bool) -> str:
    name = f"{point.entry.key} {point.entry.variant}"
    fits = x + 20 + CHARACTER * len(name) < WIDTH
    label_x, anchor = (x + 14, "start") if fits else (x - 14, "end")
    leader = f'<line class="leader" x1="{x:.1f}" y1="{y:.1f}" x2="{label_x:.1f}" y2="{label_y - 4:.1f}"/>'
    title = f"{name}: {digits(point.tflop_per_s)} TFLOP/s at {digits(point.intensity)} FLOP/byte"
    kind = " ".join(["point", *([] if point.exact else ["hollow"])])
    weight = ' class="base"' if filled else ""
    return (
        f"<g><title>{escape(title)}</title>{leader}"
        f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>'
        f'<text{weight} x="{label_x:.1f}" y="{label_y:.1f}" text-anchor="{anchor}"><tspan class="key">'
        f'{escape(point.entry.key)}</tspan> <tspan class="name">{escape(point.entry.variant)}</tspan></text></g>'
    )


def _spoken(drawn: Roofline[Entry]) -> str:
    told = [f"{p.entry.variant} {digits(p.tflop_per_s)} TFLOP/s" for p in drawn.points]
    return f"Roofline: {', '.join(told)}; at most {digits(drawn.roofs[0].tflop_per_s)} TFLOP/s"
