"""A span of timelines as bars of a Plotly figure: the longest slices, one row for each stream and level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import plotly.graph_objects as go

from app.charts.samples import DARK, LIGHT, Ink
from app.formatting import microseconds
from app.timeline.listed import Listed
from app.timeline.ranges import inside
from app.timeline.shown import Rows, Shown
from profiles.results import Role
from profiles.trace.printable import printable
from profiles.trace.timeline import TrackKind

MOST_BARS = 2_000
ROW_HEIGHT, AROUND = 34, 60
COLOURS = {
    Role.GEMM: ("#1A3490", "#5C8BEA"),
    Role.ATTENTION: ("#9F4CAC", "#A24C93"),
    Role.SOFTMAX: ("#E2A26B", "#E09A66"),
    Role.NORM: ("#A98F1E", "#F4D125"),
    Role.POINTWISE: ("#029783", "#1CCDC6"),
    Role.REDUCTION: ("#526C13", "#BBF1B9"),
    Role.COMMUNICATION: ("#6B2A28", "#D85A4F"),
    Role.HELPER: ("#8E959F", "#7A838F"),
    Role.COPY: ("#5B626C", "#A7AFBA"),
    Role.FILL: ("#7C848F", "#7F8894"),
    Role.OTHER: ("#7C848F", "#7F8894"),
}
"""Of the light and the dark theme; the same as `canvas/palette.js` has."""
HATCHES = {Role.COPY: "/", Role.FILL: "\\", Role.OTHER: "x"}


@dataclass(frozen=True, slots=True)
class Bars:
    """`figure` draws `drawn` of the `slices` there are in the span, of these `roles`. It has no legend of its own."""

    figure: go.Figure
    roles: tuple[Role, ...]
    drawn: int
    slices: int


@dataclass(frozen=True, slots=True)
class _Chosen:
    lane: Listed
    rows: Rows
    of: int


def bars_figure(lanes: Sequence[Listed], *, dark: bool) -> Bars:
    """Lanes share the bars evenly; what a lane leaves the others may take no part of."""
    chosen = [_choose(lane, MOST_BARS // len(lanes)) for lane in lanes]
    figure = go.Figure()
    for role in Role:
        traces = [trace for one in chosen if (trace := _trace(one, role, dark=dark)) is not None]
        figure.add_traces(traces)
    rows = [row for one in chosen for row in _row_names(one)]
    figure.update_layout(**_layout(list(dict.fromkeys(rows)), _extent(lanes), DARK if dark else LIGHT))
    roles = tuple(dict.fromkeys(Role(trace.name) for trace in figure.data))
    return Bars(figure, roles, sum(len(one.rows) for one in chosen), sum(one.of for one in chosen))


def _extent(lanes: Sequence[Listed]) -> tuple[float, float]:
    """In µs from where the lanes begin."""
    ends = [(lane.found.from_ns - lane.shown.zero_ns, lane.found.to_ns - lane.shown.zero_ns) for lane in lanes]
    return min(first for first, _ in ends) / 1e3, max(last for _, last in ends) / 1e3


def _choose(lane: Listed, most: int) -> _Chosen:
    """The longest of the device's slices, in the order of drawing."""
    rows = inside(lane.shown, lane.found.from_ns, lane.found.to_ns, rows=lane.shown.work())
    longest = rows[np.argsort(-lane.shown.duration_ns[rows], kind="stable")[:most]]
    return _Chosen(lane, np.sort(longest), len(rows))


def _trace(one: _Chosen, role: Role, *, dark: bool) -> go.Bar | None:
    shown = one.lane.shown
    roles = shown.timeline.roles
    rows = [row for row in one.rows.tolist() if roles[shown.name[row]] is role]
    if not rows:
        return None
    start = np.maximum(shown.start_ns[rows], one.lane.found.from_ns)
    end = np.minimum(shown.start_ns[rows] + shown.duration_ns[rows], one.lane.found.to_ns)
    return go.Bar(
        orientation="h",
        name=str(role),
        base=(start - shown.zero_ns) / 1e3,
        x=(end - start) / 1e3,
        y=[_row_name(one.lane, row) for row in rows],
        marker={"color": COLOURS[role][dark], "line": {"width": 0}, "pattern": _hatch(role)},
        text=[_hover(shown, row) for row in rows],
        textposition="none",
        hovertemplate=f"%{{text}}<extra>{escape(one.lane.key)}</extra>",
    )


def _hatch(role: Role) -> dict[str, object]:
    return {"shape": HATCHES[role], "fillmode": "replace", "size": 6} if role in HATCHES else {}


def _row_names(one: _Chosen) -> list[str]:
    shown = one.lane.shown
    used = np.unique(np.stack([shown.track[one.rows], shown.depth[one.rows]]), axis=1).T.tolist()
    return [_named(one.lane, track, depth) for track, depth in used]


def _row_name(lane: Listed, row: int) -> str:
    return _named(lane, int(lane.shown.track[row]), int(lane.shown.depth[row]))


def _named(lane: Listed, track: int, depth: int) -> str:
    """A stream's slices that overlap others have rows of their own."""
    name = escape(printable(lane.shown.tracks[track].name))
    overlapping = depth > 0 and lane.shown.tracks[track].kind == TrackKind.STREAM
    return (
        f"{escape(lane.key)}  {name}"
        + (", overlapping" if overlapping else "")
        + (f" {depth}" if overlapping and depth > 1 else "")
    )


def _hover(shown: Shown, row: int) -> str:
    name = int(shown.name[row])
    start, duration = int(shown.start_ns[row]) - shown.zero_ns, int(shown.duration_ns[row])
    told = escape(printable(shown.timeline.short_names[name]))
    return f"{told}<br>{shown.timeline.roles[name]}, {microseconds(duration)} µs<br>from {microseconds(start)} µs"


def _layout(rows: list[str], extent: tuple[float, float], ink: Ink) -> dict[str, object]:
    return {
        "barmode": "overlay",
        "height": AROUND + ROW_HEIGHT * len(rows),
        "margin": {"l": 0, "r": 8, "t": 4, "b": 40},
        "font": {"color": ink.muted, "size": 12, "family": "Inter, sans-serif"},
        "showlegend": False,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "bargap": 0.25,
        "xaxis": {
            "range": extent,
            "tickformat": ",",
            "title": {"text": "µs", "font": {"size": 12}},
            "gridcolor": ink.hairline,
            "zeroline": False,
            "automargin": True,
        },
        "yaxis": {
            "categoryorder": "array",
            "categoryarray": rows,
            "autorange": "reversed",
            "automargin": True,
            "fixedrange": True,
            "showgrid": False,
            "ticksuffix": "  ",
            "tickfont": {"color": ink.ink},
        },
    }
