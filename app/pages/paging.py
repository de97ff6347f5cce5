"""Pages of a long list; the number stands in the address."""

from __future__ import annotations

import streamlit as st

KEY = "page"


def offset(per_page: int) -> int:
    text = str(st.query_params.get(KEY, "1"))
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 1
    return (max(number, 1) - 1) * per_page


def pager(total: int, per_page: int) -> None:
    """Nothing where one page holds all."""
    pages = -(-total // per_page)
    if pages > 1:
        st.pagination(pages, key=KEY, bind="query-params")
