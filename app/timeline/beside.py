"""The view of the canvas once more, as tables and a chart: behind a switch, for whom a canvas is no use."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.charts.bars import legend
from app.context import database
from app.markup import page
from app.timeline.bars import Bars, bars_figure
from app.timeline.lane import Lane
from app.timeline.listed import Listed, listed_html
from app.timeline.opened import doubts_of, is_shared, load, trace_at
from app.timeline.ranges import summarise
from app.timeline.view import View, read_view, span_of

SWITCH = "As a table and chart"
HELP = "The selected range as text; where none is selected, what is in view. It follows the canvas."


def beside(lanes: Sequence[Lane], *, view: str | None, key: str) -> None:
    """Nothing of it is computed or loaded before somebody asks."""
    if not st.toggle(SWITCH, key=f"{key}-table", bind="query-params", help=HELP):
        return
    told = read_view(view)
    listed = [found for lane in lanes if (found := _listed(lane, told)) is not None]
    for row in listed:
        st.html(listed_html(row))
    if not any(row.found.slices for row in listed):
        return
    bars = bars_figure(listed, dark=st.context.theme.type == "dark")
    st.html(page(f'<p class="fs-muted">{_drawn(bars)}</p>{legend(bars.roles)}'))
    names = ", ".join(f"{row.key} {row.label}" for row in listed)
    st.plotly_chart(
        bars.figure,
        theme=None,
        config={"displayModeBar": False},
        key=f"{key}-bars",
        alt=f"{_drawn(bars)} Bars over time, a row for each stream, of {names}. The tables above have the figures.",
    )


def _listed(lane: Lane, view: View) -> Listed | None:
    trace = trace_at(lane.url)
    if trace is None:
        return None
    shown = load(database(), trace, view.part, shared=is_shared(lane.url))
    summary = summarise(shown, *span_of(view, shown), doubts=doubts_of(database(), trace, shown))
    return Listed(key=lane.key, label=lane.label, baseline=lane.baseline, shown=shown, found=summary)


def _drawn(bars: Bars) -> str:
    if bars.drawn == bars.slices:
        return f"All {bars.slices:,} slices are drawn." if bars.slices > 1 else "One slice is drawn."
    return f"The {bars.drawn:,} longest of {bars.slices:,} slices are drawn; zoom in or select a range for the others."
