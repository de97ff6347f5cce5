"""What the viewer chose: a baseline and the time to compare by, kept in the address."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from app.charts.table import completeness_text
from app.comparison.address import follow
from app.markup import page
from db.views import ComparedRun, ComparisonView
from profiles.comparison.entry import State, in_state, sections
from profiles.comparison.speed import By, baseline, chosen, offered
from profiles.comparison.table import completeness

BASE, BY = "base", "by"
TITLES = {
    By.GPU_TIME: "GPU time",
    By.CALL_TIME: "Back-to-back",
    By.GRAPH_TIME: "Graph",
    By.SYNC_TIME: "Lone call",
    By.HOST_TIME: "Host",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """`base` is a key or a variant; in a section that has neither, the operation's own baseline is taken.

    `lanes` and `zoom` are what the timelines open with, where the address says nothing else.
    """

    base: str | None
    by: By
    lanes: tuple[str, ...] = ()
    zoom: str | None = None


def saved_choice(view: ComparisonView) -> Choice:
    """What the comparison opens with."""
    saved = view.view
    return Choice(saved.base, chosen(view.entries, saved.by), saved.lanes, saved.zoom)


def choose(view: ComparisonView) -> Choice:
    """The toolbar; without anything to choose from there is only the completeness line."""
    saved = saved_choice(view)
    options = _baselines(view.entries)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="toolbar"):
        base = _base(options, saved, view.entries) if len(options) > 1 else saved.base
        by = _by(view.entries, saved.by)
        st.html(_complete(view.entries), width="content")
    return replace(saved, base=base, by=by)


def _base(options: dict[str, str], saved: Choice, entries: Sequence[ComparedRun]) -> str:
    st.html(page('<span class="fs-muted fs-nowrap">Baseline</span>'), width="content")
    labels = list(options)
    usual = _usual(entries, saved)
    index = next((i for i, label in enumerate(labels) if usual in (label, options[label])), 0)
    label = st.selectbox(
        "Baseline", labels, index=index, key=BASE, bind="query-params", label_visibility="collapsed", width=190
    )
    return options[label or labels[index]]


def _usual(entries: Sequence[ComparedRun], saved: Choice) -> str | None:
    first = next((group for group in sections(entries) if in_state(group, State.MEASURED)), ())
    base = baseline(first, saved.base, chosen(first, saved.by))
    return None if base is None else base.entry.key if _is_ambiguous(entries) else base.entry.variant


def _by(entries: Sequence[ComparedRun], saved: By) -> By:
    times = offered(entries)
    if len(times) < 2:
        return saved
    st.html(page('<span class="fs-muted fs-nowrap wide">Speed-up by</span>'), width="content")
    names = [str(by) for by in times]
    followed = follow(BY, names, str(saved))
    found = st.segmented_control(
        "Speed-up by",
        names,
        required=True,
        format_func=lambda name: TITLES[By(name)],
        key=followed.key,
        on_change=followed.on_change,
        label_visibility="collapsed",
    )
    return By(found) if found else saved


def _baselines(entries: Sequence[ComparedRun]) -> dict[str, str]:
    """Label → key or variant. A variant stands for itself in every section; where one section has it twice, the key
    must tell them apart."""
    able = in_state(entries, State.MEASURED)
    if _is_ambiguous(entries):
        return {f"{entry.key} {entry.variant}": entry.key for entry in able}
    return {entry.variant: entry.variant for entry in able}


def _is_ambiguous(entries: Sequence[ComparedRun]) -> bool:
    return any(len({entry.variant for entry in group}) < len(group) for group in sections(entries))


def _complete(entries: Sequence[ComparedRun]) -> str:
    return page(f'<span class="fs-complete">{completeness_text(completeness(entries))}</span>')
