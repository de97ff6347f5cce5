"""The comparison page: what is fastest, by how much, and why. All that a viewer chooses is in the address."""

from __future__ import annotations

import streamlit as st

from app.addresses import identity
from app.charts.style import css
from app.comparison.actions import export_popover, rename_popover
from app.comparison.body import body, footnote
from app.comparison.choice import Choice, choose
from app.comparison.facts import head_html
from app.comparison.failed import way_on
from app.comparison.share import share_popover
from app.comparison.watch import is_open, progress, watch
from app.context import database, zone
from app.markup import link, page
from app.pages import compared_traces
from db.comparisons import comparison
from db.errors import NotFound
from db.views import ComparisonKind, ComparisonView, JobStatus

ID = "id"
SHOWN = "a comparison was shown"

# Streamlit's navigation takes the query away before it leaves a page: on the way back that step is none of a person's.
STEP_BACK = "<script>window.history.back()</script>"


def render() -> None:
    st.html(f"<style>{css()}</style>")
    view = _find(st.query_params.get(ID))
    if view is None and ID not in st.query_params and st.session_state.get(SHOWN):
        st.html(STEP_BACK, unsafe_allow_javascript=True)
        return
    if view is None:
        st.html(page(f"<p>There is no such comparison. Look for it in {link('History', 'history')}.</p>"))
        return
    st.session_state[SHOWN] = True
    if view.kind is ComparisonKind.TRACES:
        compared_traces.render(view)
        return
    with st.container(horizontal=True, vertical_alignment="top", horizontal_alignment="distribute", key="head"):
        st.html(head_html(view, zone=zone()))
        actions = st.container(horizontal=True, horizontal_alignment="right", width="content", key="actions")
    if is_open(view):
        watch(view.id, progress(view))
    body(view, lambda: _chosen(view, actions))
    st.html(footnote())


def _chosen(view: ComparisonView, actions: st.delta_generator.DeltaGenerator) -> Choice:
    """The toolbar, and with what it chose the buttons in the head."""
    if view.status in (JobStatus.FAILED, JobStatus.CANCELLED) and view.job_id is not None:
        way_on(view.job_id)
    choice = choose(view)
    with actions:
        rename_popover(view)
        share_popover(view, choice)
        export_popover(view, choice)
    return choice


def _find(text: str | None) -> ComparisonView | None:
    comparison_id = identity(text)
    if comparison_id is None:
        return None
    try:
        return comparison(database(), comparison_id)
    except NotFound:
        return None
