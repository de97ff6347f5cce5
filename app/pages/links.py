"""Ways from one page to another that keep the session; a page is named by its address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import streamlit as st

PAGES = "fusescope pages"

Query = Mapping[str, str | Sequence[str]]


def register(pages: Mapping[str, Any]) -> None:
    """Called by the navigation in every run, before any page."""
    st.session_state[PAGES] = dict(pages)


def go(page: str, query: Query | None = None) -> NoReturn:
    st.switch_page(st.session_state[PAGES][page], query_params=dict(query or {}))
    raise AssertionError("unreachable: switching pages ends the run")


def page_link(label: str, page: str, *, query: Query | None = None, icon: str | None = None) -> None:
    st.page_link(
        st.session_state[PAGES][page], label=label, icon=icon, icon_position="right", query_params=dict(query or {})
    )
