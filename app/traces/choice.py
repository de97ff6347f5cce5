"""What the viewer of several traces chose: the baseline, by its letter, kept in the address."""

from __future__ import annotations

import streamlit as st

from app.comparison.address import follow
from app.comparison.choice import BASE, Choice
from app.markup import page
from db.views import ComparisonView, ImportStatus
from profiles.comparison.speed import By
from profiles.trace.printable import printable

SHORT = 48


def saved_choice(view: ComparisonView) -> Choice:
    """What it opens with: the first trace that is read, where no other was chosen."""
    keys = _keys(view)
    base = view.view.base if view.view.base in keys else next(iter(keys), None)
    return Choice(base, By.GPU_TIME, view.view.lanes, view.view.zoom)


def choose(view: ComparisonView) -> Choice:
    """The toolbar; nothing is drawn where there is nothing to choose from."""
    saved, keys = saved_choice(view), _keys(view)
    if len(keys) < 2 or saved.base is None:
        return saved
    labels = {trace.key: printable(trace.label) for trace in view.traces}
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="toolbar"):
        st.html(page('<span class="fs-muted fs-nowrap">Baseline</span>'), width="content")
        followed = follow(BASE, keys, saved.base)
        base = st.selectbox(
            "Baseline",
            keys,
            format_func=lambda key: f"{key} {_short(labels[key])}",
            key=followed.key,
            on_change=followed.on_change,
            label_visibility="collapsed",
            width=320,
        )
        st.html(_complete(view), width="content")
    return Choice(base or saved.base, saved.by, saved.lanes, saved.zoom)


def _keys(view: ComparisonView) -> list[str]:
    return [trace.key for trace in view.traces if trace.status is ImportStatus.DONE]


def _short(label: str) -> str:
    return label if len(label) <= SHORT else f"{label[: SHORT - 1]}…"


def _complete(view: ComparisonView) -> str:
    """`3 read · 1 to come · 1 refused`."""
    waiting = sum(trace.pending for trace in view.traces)
    refused = sum(trace.status is ImportStatus.FAILED for trace in view.traces)
    told = ((len(_keys(view)), "read"), (waiting, "to come"), (refused, "refused"))
    return page(f'<span class="fs-complete">{" · ".join(f"{n} {word}" for n, word in told if n)}</span>')
