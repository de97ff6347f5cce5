"""The page of a comparison of traces; `app.pages.comparison` finds the comparison and sends it here."""

from __future__ import annotations

import streamlit as st

from app.comparison.actions import rename_popover
from app.comparison.choice import Choice
from app.comparison.share import share_popover
from app.context import zone
from app.markup import page
from app.traces.actions import add_link, export_popover, renaming
from app.traces.again import ways_on
from app.traces.body import body
from app.traces.choice import choose, saved_choice
from app.traces.facts import head_html
from app.traces.style import css
from app.traces.watch import is_open, progress, watch
from db.views import ComparisonView

FOOT = (
    "Recorded under a profiler, which makes the host slower than it is. Work counts for the step that launched it;"
    " times are of the GPU and whole nanoseconds in the files. Ratios compare two recordings: they are no verdict."
)


def render(view: ComparisonView) -> None:
    st.html(f"<style>{css()}</style>")
    with st.container(horizontal=True, vertical_alignment="top", horizontal_alignment="distribute", key="head"):
        st.html(head_html(view, zone=zone()))
        actions = st.container(
            horizontal=True, horizontal_alignment="right", vertical_alignment="center", width="content", key="actions"
        )
    if is_open(view):
        watch(view.id, progress(view))
    ways_on(view)
    body(view, lambda: _chosen(view, actions))
    _footnote(view)


def render_shared(view: ComparisonView, *, token: str) -> None:
    """Read-only, in the view that the link was made with; the shared page draws the head."""
    st.html(f"<style>{css()}</style>")
    if is_open(view):
        watch(view.id, progress(view), token=token)
    body(view, lambda: saved_choice(view), token=token)
    _footnote(view)


def _footnote(view: ComparisonView) -> None:
    if any(trace.summary is not None for trace in view.traces):
        st.html(page(f'<p class="fs-foot">{FOOT}</p>'))


def _chosen(view: ComparisonView, actions: st.delta_generator.DeltaGenerator) -> Choice:
    """The toolbar, and with what it chose the buttons in the head."""
    choice = choose(view) if len(view.traces) > 1 else saved_choice(view)
    with actions:
        add_link(view)
        rename_popover(view, also=renaming(view))
        share_popover(view, choice)
        export_popover(view, choice)
    return choice
