"""History: past comparisons and all runs, filtered by the address; what is selected becomes a comparison."""

from __future__ import annotations

from datetime import datetime, timedelta

import streamlit as st

from app import addresses, context
from app.markup import link, page, prose, title
from app.pages import comparison_list, paging, run_list
from db import history
from db.views import HistoryFilter, JobStatus
from profiles.results import RunStatus

ANY = "any"
COMPARISONS, RUNS = "Comparisons", "Runs"
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
        operation = _choice("Operation", "operation", choices.operations)
        device = _choice("Device", "device", choices.device_names)
        list_name = st.session_state.get("list") or st.query_params.get("list", COMPARISONS)
        states = RunStatus if list_name == RUNS else JobStatus
        state = _choice("State", "state", tuple(map(str, states)))
        since = st.selectbox(
            "Since", list(SINCE), key="since", bind="query-params", width=130, on_change=paging.first_page
        )
        shown = st.segmented_control(
            "List", [COMPARISONS, RUNS], default=COMPARISONS, required=True, key="list", bind="query-params",
            label_visibility="collapsed", on_change=_other_list,
        )  # fmt: skip
    wanted = HistoryFilter(
        search=(search or "").strip() or None,
        operation=operation,
        device_name=device,
        status=state,
        since=_moment(str(since)),
    )
    (run_list if shown == RUNS else comparison_list).show(wanted, per_page=PER_PAGE, empty=_empty(wanted, str(shown)))


def _choice(label: str, key: str, options: tuple[str, ...]) -> str | None:
    chosen = st.selectbox(label, [ANY, *options], key=key, bind="query-params", width=150, on_change=paging.first_page)
    return None if chosen in (None, ANY) else str(chosen)


def _other_list() -> None:
    """The states of jobs are not those of runs."""
    paging.first_page()
    st.session_state["state"] = ANY


def _moment(since: str) -> datetime | None:
    days = SINCE.get(since)
    return None if days is None else context.now() - timedelta(days=days)


def _empty(wanted: HistoryFilter, shown: str) -> str:
    if wanted == HistoryFilter():
        start = link("Start", addresses.START)
        return page(f'<p class="fs-empty"><b>Nothing is measured yet.</b> Take a question from {start}.</p>')
    database = context.database()
    searched = (history.runs if shown == RUNS else history.comparisons)(database, HistoryFilter(), limit=1).total
    named = f" `{wanted.search}`" if wanted.search else ""
    told = prose(f"Nothing matches{named}. {searched:,} {shown.lower()} searched. ")
    clear = link("Clear filters", addresses.address(addresses.HISTORY, list=None if shown == COMPARISONS else shown))
    return page(f'<p class="fs-empty">{told}{clear}</p>')
