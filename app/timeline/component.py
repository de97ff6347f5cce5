"""The canvas as a Streamlit component, and what it is told about each lane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import streamlit as st

NAME = "fusescope_timelines"
WHOLE = "whole"
CANVAS = Path(__file__).parent / "canvas"
SOURCES = ("palette", "columns", "axis", "layout", "draw", "tip", "gestures", "chart", "mount")
HTML = """
<div class="timeline">
  <canvas tabindex="0" role="img"></canvas>
  <div class="tip" hidden><b></b><span></span><code></code></div>
</div>
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One run under the others. `summary` stands beside its name, `note` after its last slice.

    `stages` counts the stages of the operation; `url` is the run's columns, relative to the page.
    """

    key: str
    variant: str
    baseline: bool
    summary: str
    note: str
    stages: int
    url: str


def timelines(lanes: Sequence[Lane], *, zoom: str | None, key: str, on_zoom: Callable[[str | None], None]) -> None:
    """`zoom` is `156.67~775.59` in µs, None for all; `on_zoom` gets each view that a person rests at."""
    draw = st.components.v2.component(NAME, html=HTML, css=_read("timeline.css"), js=_script())
    data = {"lanes": [asdict(lane) for lane in lanes], "zoom": zoom, "label": _label(lanes)}
    draw(key=key, data=data, on_view_change=lambda: on_zoom(_zoom(st.session_state[key].view)))


def _zoom(view: str | None) -> str | None:
    """The canvas says `whole` where nothing is left out: a state that was never set cannot become None."""
    return None if view == WHOLE else view


def _label(lanes: Sequence[Lane]) -> str:
    names = ", ".join(lane.variant for lane in lanes)
    return f"Timelines of {names}. W and S zoom, A and D pan, 0 fits. The kernel list below has the same figures."


@cache
def _script() -> str:
    """One module from several files: the browser gets it inline, so they cannot import each other."""
    return "\n".join(_read(f"{name}.js") for name in SOURCES)


@cache
def _read(name: str) -> str:
    return (CANVAS / name).read_text(encoding="utf-8")
