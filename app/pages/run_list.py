"""History's list of all runs: select some and compare them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import addresses, context
from app.formatting import moment
from app.markup import link, page
from app.pages import selection
from app.pages.comparison_list import compare_traces, open_new
from app.pages.paging import current
from app.states import RUN_TONES, short_device
from app.traces.beside import query
from db import history
from db.trace_comparisons import RUN
from db.views import HistoryFilter, Page, RunSummary
from profiles.results import RunStatus

LIST = "runs"
COLOURS = {"ok": "green", "bad": "red", "idle": "gray"}


def show(wanted: HistoryFilter, *, per_page: int, empty: str) -> None:
    database = context.database()
    found = current(lambda first: history.runs(database, wanted, offset=first, limit=per_page), per_page)
    selection.show_list(LIST, found, table=_table, actions=_actions, per_page=per_page, empty=empty)


def _table(found: Page[RunSummary]) -> list[int]:
    zone = context.zone()
    table: dict[str, Sequence[object]] = {
        "Variant": [run.variant for run in found.items],
        "Operation": [run.operation for run in found.items],
        "Workload": [run.workload for run in found.items],
        "State": [[run.status] for run in found.items],
        "GPU time, µs": [_us(run.gpu_time_ns) for run in found.items],
        "Back-to-back, µs": [_us(run.call_time_ns) for run in found.items],
        "Kernels": [run.kernels for run in found.items],
        "Device": [short_device(run.device_name, None) for run in found.items],
        "torch": [run.torch or "" for run in found.items],
        "When": [moment(run.measured_at, zone) for run in found.items],
        "Why": [_why(run) for run in found.items],
    }
    columns = {
        "GPU time, µs": st.column_config.NumberColumn(format="%,.1f"),
        "Back-to-back, µs": st.column_config.NumberColumn(format="%,.1f"),
        "State": st.column_config.MultiselectColumn(
            options=list(map(str, RunStatus)), color=[COLOURS[RUN_TONES[status]] for status in RunStatus]
        ),
    }
    return selection.select_rows(LIST, found.items, table, columns=columns, alt="All runs, latest first")


def _why(run: RunSummary) -> str:
    """Why there are no numbers, or what is in doubt about them."""
    if run.failure is not None:
        return run.failure.message
    return f"kernels in doubt: {run.kernels_doubt}" if run.kernels_doubt else ""


def _us(ns: float | None) -> float | None:
    return None if ns is None else ns / 1e3


def _actions(selected: Sequence[RunSummary], shown: Sequence[RunSummary]) -> None:
    label = f"Compare {len(selected)} selected" if selected else "Compare"
    if st.button(label, type="primary", disabled=len(selected) < 2, key="compare-runs"):
        variants = list(dict.fromkeys(run.variant for run in selected))
        open_new([run.id for run in selected], name=" and ".join(variants[:3])[:120], of=LIST)
    if st.button("Compare their traces", disabled=len(selected) < 2, key="compare-run-traces"):
        compare_traces([(RUN, run.id) for run in selected], of=LIST)
    one = selected[0] if len(selected) == 1 else None
    if one is not None and one.comparison_id is not None:
        st.html(page(link("Its comparison", addresses.comparison(one.comparison_id))), width="content")
    if one is not None:
        beside = addresses.address(addresses.HISTORY, **query([(RUN, one.id)]))
        st.html(page(link("Compare its trace with an imported one", beside)), width="content")
    selection.clear_button(LIST, selected)
    told = "Select at least two runs to put them side by side." if len(selected) < 2 else "as a new comparison"
    selection.caption(told, selected, shown)
