"""Curves of several variants in one plot: a colour, a dash and a mark each, in layers that stretch with the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from urllib.parse import quote

SIDE = 1000  # of a drawing's own square
MOST_MARKS = 16
XMLNS = "http://www.w3.org/2000/svg"
# Of each style: its dash, and the mark that a line's cap makes. The colours stand in the stylesheet; 0 is ink.
STYLES = (
    ("none", "round"),
    ("7 3", "round"),
    ("none", "square"),
    ("2 3", "round"),
    ("9 3 2 3", "square"),
    ("none", "round"),
    ("12 4", "square"),
)

Points = Sequence[tuple[float, float]]
"""From the left and from the top, as shares of the plot."""


def layer(classes: str, paths: str) -> str:
    """A layer in its style's colour, seen through the curve: Streamlit takes SVG out of HTML, but not out of styles."""
    svg = f"<svg xmlns='{XMLNS}' viewBox='0 0 {SIDE} {SIDE}' preserveAspectRatio='none'>{paths}</svg>"
    return f'<i class="{classes}" style="--curve:url(&quot;data:image/svg+xml,{quote(svg)}&quot;)"></i>'


def marked_line(points: Points, style: int) -> str:
    """Dashed as the style is, with its marks on some of the points."""
    dash, cap = STYLES[style]
    every = math.ceil(len(points) / MOST_MARKS)
    marks = "".join(f"M{_number(x)} {_number(y)}h0" for x, y in points[::every])
    return _stroked(_path(points), 1.7, f"stroke-dasharray='{dash}'") + _stroked(marks, 6, f"stroke-linecap='{cap}'")


def plain_line(points: Points) -> str:
    return _stroked(_path(points), 1.2)


def _stroked(path: str, width: float, more: str = "") -> str:
    """However the drawing is stretched, strokes keep their width in px."""
    fixed = "fill='none' stroke='#000' stroke-linejoin='round' vector-effect='non-scaling-stroke'"
    return f"<path d='{path}' stroke-width='{width}' {fixed} {more}/>"


def _path(points: Points) -> str:
    return "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in points)


def _number(share: float) -> str:
    return f"{share * SIDE:.1f}"
