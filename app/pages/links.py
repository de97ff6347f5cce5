"""Ways from one page to another; a page is named by its address."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn
from urllib.parse import urlencode

import streamlit as st

PAGES = "fusescope pages"

Query = Mapping[str, str | Sequence[str]]


def register(pages: Mapping[str, Any]) -> None:
    """Called by the navigation in every run, before any page."""
    st.session_state[PAGES] = dict(pages)


def go(page: str, query: Query | None = None) -> NoReturn:
    """By the browser, as a link does.

    `st.switch_page` first gives the page that is left the query of the other one, and a step back would lead there.
    """
    target = f"{page}?{urlencode(query, doseq=True)}" if query else page
    st.html(f"<script>window.location.assign({json.dumps(target)})</script>", unsafe_allow_javascript=True)
    st.stop()


def page_link(label: str, page: str, *, query: Query | None = None, icon: str | None = None) -> None:
    st.page_link(
        st.session_state[PAGES][page], label=label, icon=icon, icon_position="right", query_params=dict(query or {})
    )
