"""History's list of comparisons: open one, put several together, rename, export."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import addresses, context
from app.formatting import moment, plural
from app.markup import Tone, brief
from app.pages import links, selection
from app.pages.paging import current
from app.states import comparison_words, short_device
from app.traces.beside import source
from db import comparisons, history, trace_comparisons
from db.errors import IllegalMove, NotFound
from db.views import ComparisonKind, ComparisonSummary, HistoryFilter, Page

LIST = "comparisons"
TRACES = "traces"
MIXED = "runs and traces are compared apart: select the one or the other"
COLOURS = {None: "gray", Tone.IDLE: "gray", Tone.RUN: "blue", Tone.WARN: "orange", Tone.BAD: "red", Tone.OK: "green"}


def show(wanted: HistoryFilter, *, per_page: int, empty: str) -> None:
    database = context.database()
    found = current(lambda first: history.comparisons(database, wanted, offset=first, limit=per_page), per_page)
    selection.show_list(LIST, found, table=_table, actions=_actions, per_page=per_page, empty=empty)


def _table(found: Page[ComparisonSummary]) -> list[int]:
    zone = context.zone()
    words = [comparison_words(summary) for summary in found.items]
    states = dict.fromkeys(text for text, _ in words)
    tones = dict(words)
    table: dict[str, Sequence[object]] = {
        "Comparison": [summary.name for summary in found.items],
        "Operation": [TRACES if _of_traces(summary) else summary.operation for summary in found.items],
        "Workload": [summary.workload for summary in found.items],
        "Answer": [brief(summary.answer or "") for summary in found.items],
        "Runs": [summary.runs for summary in found.items],
        "State": [[text] for text, _ in words],
        "Device": [short_device(summary.device_name, summary.device) for summary in found.items],
        "By": [summary.created_by or "" for summary in found.items],
        "When": [moment(summary.created_at, zone) for summary in found.items],
    }
    if not any(summary.created_by for summary in found.items):
        del table["By"]
    columns = {
        "Comparison": st.column_config.TextColumn(width=190),
        "Workload": st.column_config.TextColumn(width=250),
        "Answer": st.column_config.TextColumn(width=330),
        "Runs": st.column_config.NumberColumn(width=55),
        "State": st.column_config.MultiselectColumn(options=list(states), color=[COLOURS[tones[s]] for s in states]),
    }
    return selection.select_rows(LIST, found.items, table, columns=columns, alt="Comparisons, latest first")


def _actions(selected: Sequence[ComparisonSummary], shown: Sequence[ComparisonSummary]) -> None:
    """The first button says what it will do with what is selected."""
    one = selected[0] if len(selected) == 1 else None
    label = "Open" if len(selected) < 2 else f"Compare {len(selected)} selected"
    if st.button(label, type="primary", disabled=not selected, key="open"):
        _open(selected)
    with st.popover("Name", disabled=one is None, key="rename"):
        if one is not None:
            _rename(one)
    if one is not None:
        kind = "json" if _of_traces(one) else "fusescope"
        st.link_button("Export", f"api/v1/comparisons/{one.id}/export.{kind}", key="export")
    else:
        st.button("Export", disabled=True, key="export-none")
    selection.clear_button(LIST, selected)
    selection.caption(_what_happens(selected), selected, shown)


def _what_happens(selected: Sequence[ComparisonSummary]) -> str:
    if not selected:
        return "Select one to open, name or export it; select several to put them side by side."
    if len(selected) == 1:
        return plural(selected[0].runs, "trace" if _of_traces(selected[0]) else "run")
    traces = sum(map(_of_traces, selected))
    if traces:
        return "all traces side by side" if traces == len(selected) else MIXED
    operations = len({summary.operation for summary in selected})
    workloads = len({summary.workload for summary in selected})
    devices = len({summary.device_name for summary in selected})
    told = "same operation" if operations == 1 else "different operations: each stands by itself"
    told += ", same workload" if workloads == 1 else ", other workloads: one table for each"
    return told + (", different devices" if devices > 1 else "")


def _open(selected: Sequence[ComparisonSummary]) -> None:
    if len(selected) == 1:
        links.go(addresses.COMPARISON, {"id": str(selected[0].id)})
    if len({summary.kind for summary in selected}) > 1:
        st.toast(MIXED)
        return
    database = context.database()
    views = [comparisons.comparison(database, summary.id) for summary in selected]
    if _of_traces(selected[0]):
        compare_traces(list(dict.fromkeys(source(trace) for view in views for trace in view.traces)), of=LIST)
        return
    entries = [entry for view in views for entry in view.entries]
    run_ids = list(dict.fromkeys(entry.run_id for entry in entries if entry.run_id is not None))
    open_new(run_ids, name=" and ".join(dict.fromkeys(summary.name for summary in selected))[:120], of=LIST)


def _of_traces(summary: ComparisonSummary) -> bool:
    return summary.kind is ComparisonKind.TRACES


def open_new(run_ids: Sequence[int], *, name: str, of: str) -> None:
    """Make a comparison of these runs, selected in list `of`, and go there; why not, where they make none."""
    try:
        made = comparisons.create_comparison(context.database(), run_ids, name=name)
    except IllegalMove as error:
        st.toast(str(error))
        return
    selection.clear(of)
    links.go(addresses.COMPARISON, {"id": str(made)})


def compare_traces(chosen: Sequence[tuple[str, int]], *, of: str) -> None:
    """As `open_new`, of traces: imported ones and runs'."""
    try:
        made = trace_comparisons.compare_traces(context.database(), chosen)
    except (IllegalMove, NotFound) as error:
        st.toast(str(error))
        return
    selection.clear(of)
    links.go(addresses.COMPARISON, {"id": str(made)})


def _rename(summary: ComparisonSummary) -> None:
    with st.form("rename form", border=False):
        name = st.text_input("Name", summary.name, max_chars=120)
        if st.form_submit_button("Rename", type="primary"):
            try:
                comparisons.rename_comparison(context.database(), summary.id, name or "")
            except IllegalMove as error:
                st.error(str(error))
            else:
                st.rerun()
