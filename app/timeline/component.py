"""The canvas as a Streamlit component, and the same view as tables and a chart under it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path

import streamlit as st

from app.timeline.beside import beside
from app.timeline.lane import Lane
from app.timeline.whole import read_ahead

NAME = "fusescope_timelines"
WHOLE = "whole"
CANVAS = Path(__file__).parent / "canvas"
SOURCES = (
    *("palette", "columns", "text", "axis", "layout", "slices", "flow", "draw", "elements", "tip", "search", "link"),
    *("runs", "panel", "vector", "pictures", "bar", "gestures", "walk", "moves", "chart", "mount"),
)
HTML = """
<div class="timeline">
  <div class="bar">
    <input class="find" type="search" maxlength="200" placeholder="Search names  /" aria-label="Search slices by name">
    <button class="step previous" type="button" aria-label="Previous hit" title="Previous hit, Shift+Enter">↑</button>
    <button class="step next" type="button" aria-label="Next hit" title="Next hit, Enter">↓</button>
    <output aria-live="polite"></output>
    <span class="folds" role="group" aria-label="Rows shown open"></span>
    <select class="align" aria-label="Align the runs">
      <option value="step"></option>
      <option value="start"></option>
    </select>
    <details><summary>Export</summary><div class="menu" tabindex="-1">
      <button class="picture" type="button">This view as PNG</button>
      <button class="vector" type="button">as SVG</button><ul class="files"></ul>
    </div></details>
  </div>
  <div class="plot">
    <canvas tabindex="0" role="application" aria-roledescription="timeline"></canvas>
    <div class="tip" hidden><b></b><span></span><code></code><span></span></div>
  </div>
  <p class="said" aria-live="polite"></p>
  <p class="status" aria-live="polite"></p>
  <div class="about"></div>
  <div class="below"></div>
</div>
"""


def timelines(
    lanes: Sequence[Lane], *, part: str | None, view: str | None, key: str, on_view: Callable[[str | None], None]
) -> None:
    """`part` names what is drawn of each at first (`pass`, `step`), None where that is all. `view` is as `link.js`
    writes it (`156.67~775.59` is a zoom in µs), None where it is as it begins; `on_view` gets each that a person rests
    at. Under the canvas the same view is to be had as tables and a chart."""
    read_ahead(lanes, view)
    draw = st.components.v2.component(NAME, html=HTML, css=_read("timeline.css"), js=script())
    data = {"lanes": [asdict(lane) for lane in lanes], "view": view, "label": _label(lanes), "words": _words(part)}
    draw(key=key, data=data, on_view_change=lambda: on_view(_told(st.session_state[key].view)))
    beside(lanes, view=view, key=key)


def _told(view: str | None) -> str | None:
    """The canvas says `whole` where nothing is left out: a state that was never set cannot become None."""
    return None if view == WHOLE else view


def _words(part: str | None) -> tuple[str, str]:
    """The ways to align, in the order of the options."""
    if part is None:
        return "Time from the first slice", "Time from the recording’s start"
    return f"One {part}, from its first slice", "Whole recording, from its start"


def _label(lanes: Sequence[Lane]) -> str:
    names = ", ".join(lane.label for lane in lanes)
    keys = "W and S zoom, A and D pan, 0 shows all, comma and full stop go from slice to slice, J and K from row to row"
    more = "F folds the row, M marks a range, slash searches, Escape clears"
    return f"Timelines of {names}. {keys}, {more}. The switch below it gives the same view as text."


@cache
def script() -> str:
    """One module from several files: the browser gets it inline, so they cannot import each other."""
    return "\n".join(_read(f"{name}.js") for name in SOURCES)


@cache
def _read(name: str) -> str:
    return (CANVAS / name).read_text(encoding="utf-8")
