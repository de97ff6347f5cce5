"""Widgets whose labels are too long for an address: the address holds a short value and is the one source of truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import streamlit as st


class Followed(NamedTuple):
    """For the widget's arguments of the same names."""

    key: str
    on_change: Callable[[], None]


def follow(key: str, accepted: list[str], usual: str) -> Followed:
    """A widget that shows what the address says, where that is accepted; to be called right before it is drawn."""
    asked = st.query_params.get(key, usual)
    followed = Followed(f"{key} chosen", lambda: _write(key, usual))
    st.session_state[followed.key] = asked if asked in accepted else usual
    return followed


def _write(key: str, usual: str) -> None:
    """The usual value stays out of the address."""
    value = st.session_state[f"{key} chosen"]
    if value is None or value == usual:
        st.query_params.pop(key, None)
    else:
        st.query_params[key] = value
