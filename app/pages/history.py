"""History: past comparisons, all runs and imported traces, filtered by the address; what is selected is compared."""

from __future__ import annotations

from datetime import datetime, timedelta

import streamlit as st

from app import addresses, context
from app.markup import link, page, prose, title
from app.pages import comparison_list, paging, run_list, trace_list
from app.traces.beside import LIST as TRACES
from db import history, imports
from db.views import HistoryFilter, ImportStatus, JobStatus
from profiles.results import RunStatus

ANY = "any"
COMPARISONS, RUNS = "Comparisons", "Runs"
STATES = {COMPARISONS: JobStatus, RUNS: RunStatus, TRACES: ImportStatus}
LISTS = {COMPARISONS: comparison_list.show, RUNS: run_list.show, TRACES: trace_list.show}
SINCE = {"any time": None, "24 hours": 1, "7 days": 7, "30 days": 30, "365 days": 365}
PER_PAGE = 15


def render() -> None:
    st.html(title("History"))
    choices = history.filter_choices(context.database())
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        search = st.text_input(
            "Search", key="q", bind="query-params", icon=":material/search:", width=330,
            placeholder="name, variant or kernel", on_change=paging.first_page,
        )  # fmt: skip
        list_name = str(st.session_state.get("list") or st.query_params.get("list", COMPARISONS))
        measured = list_name != TRACES
        operation = _choice("Operation", "operation", choices.operations) if measured else None
        device = _choice("Device", "device", choices.device_names) if measured else None
        state = _choice("State", "state", tuple(map(str, STATES.get(list_name, JobStatus))))
        since = st.selectbox(
            "Since", list(SINCE), key="since", bind="query-params", width=130, on_change=paging.first_page
        )
        shown = st.segmented_control(
            "List", list(LISTS), default=COMPARISONS, required=True, key="list", bind="query-params",
            label_visibility="collapsed", on_change=_other_list,
        )  # fmt: skip
    wanted = HistoryFilter(
        search=(search or "").strip() or None,
        operation=operation,
        device_name=device,
        status=state,
        since=_moment(str(since)),
    )
    LISTS[str(shown)](wanted, per_page=PER_PAGE, empty=_empty(wanted, str(shown)))


def _choice(label: str, key: str, options: tuple[str, ...]) -> str | None:
    chosen = st.selectbox(label, [ANY, *options], key=key, bind="query-params", width=150, on_change=paging.first_page)
    return None if chosen in (None, ANY) else str(chosen)


def _other_list() -> None:
    """The states of jobs, runs and imports are not the same."""
    paging.first_page()
    st.session_state["state"] = ANY


def _moment(since: str) -> datetime | None:
    days = SINCE.get(since)
    return None if days is None else context.now() - timedelta(days=days)


def _empty(wanted: HistoryFilter, shown: str) -> str:
    if wanted == HistoryFilter():
        return page(f'<p class="fs-empty">{_nothing_yet(shown)}</p>')
    named = f" `{wanted.search}`" if wanted.search else ""
    told = prose(f"Nothing matches{named}. {_searched(shown):,} {shown.lower()} searched. ")
    clear = link("Clear filters", addresses.address(addresses.HISTORY, list=None if shown == COMPARISONS else shown))
    return page(f'<p class="fs-empty">{told}{clear}</p>')


def _nothing_yet(shown: str) -> str:
    if shown == TRACES:
        return "<b>No trace is imported yet.</b> Choose files above, or run <code>fusescope import FILE</code>."
    return f"<b>Nothing is measured yet.</b> Take a question from {link('Start', addresses.START)}."


def _searched(shown: str) -> int:
    """How many there are without any filter."""
    database = context.database()
    if shown == TRACES:
        return imports.imported_traces(database, limit=1).total
    return (history.runs if shown == RUNS else history.comparisons)(database, HistoryFilter(), limit=1).total
