"""Pages of a long list; the number stands in the address."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from db.views import Page

PARAMETER = "page"
WIDGET = "pager"

T = TypeVar("T")


def current(fetch: Callable[[int], Page[T]], per_page: int) -> Page[T]:
    """The page that the address names, by `fetch` of its offset; the last one where the list has become shorter."""
    found = fetch((_number() - 1) * per_page)
    if found.items or not found.total:
        return found
    return fetch((found.total - 1) // per_page * per_page)


def pager(total: int, per_page: int) -> None:
    """Nothing where one page holds all."""
    pages = -(-total // per_page)
    if pages > 1:
        st.pagination(pages, default=min(_number(), pages), key=WIDGET, on_change=_turn)


def first_page() -> None:
    """What is listed changes: begin anew."""
    st.query_params.pop(PARAMETER, None)
    if WIDGET in st.session_state:
        st.session_state[WIDGET] = 1


def _turn() -> None:
    number = int(st.session_state[WIDGET])
    if number == 1:
        st.query_params.pop(PARAMETER, None)
    else:
        st.query_params[PARAMETER] = str(number)


def _number() -> int:
    text = str(st.query_params.get(PARAMETER, "1"))
    return max(int(text), 1) if text.isascii() and text.isdigit() and len(text) < 7 else 1
