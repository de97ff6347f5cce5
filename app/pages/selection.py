"""What is selected in a list of many pages: it outlives turned pages and other filters, until it is used or cleared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

import streamlit as st
from streamlit.elements.arrow import DataframeStateInput


class Listed(Protocol):
    @property
    def id(self) -> int: ...


Item = TypeVar("Item", bound=Listed)


def table_key(name: str, shown: Sequence[Listed]) -> str:
    """Of the table of these rows. Another page is another table, and so is the same one once the list is cleared."""
    return f"{name} {[item.id for item in shown]} {st.session_state.get(_cleared(name), 0)}"


def ticked(name: str, shown: Sequence[Listed]) -> DataframeStateInput:
    """How the table of these rows begins."""
    kept = st.session_state.get(_kept(name), {})
    rows = [place for place, item in enumerate(shown) if item.id in kept]
    return {"selection": {"rows": rows}}


def keep(name: str, shown: Sequence[Item], rows: Sequence[int]) -> list[Item]:
    """All that is selected, on every page, in the order of selecting; on this one these rows of `shown` are."""
    here = {shown[row].id: shown[row] for row in sorted(rows)}
    gone = {item.id for item in shown} - here.keys()
    before: dict[int, Item] = st.session_state.get(_kept(name), {})
    kept = {item_id: item for item_id, item in before.items() if item_id not in gone} | here
    st.session_state[_kept(name)] = kept
    return list(kept.values())


def clear(name: str) -> None:
    st.session_state[_kept(name)] = {}
    st.session_state[_cleared(name)] = st.session_state.get(_cleared(name), 0) + 1


def clear_button(name: str, selected: Sequence[Listed]) -> None:
    if selected:
        st.button("Clear", type="tertiary", key=f"clear {name}", on_click=clear, args=(name,))


def elsewhere(selected: Sequence[Listed], shown: Sequence[Listed]) -> str:
    """`2 of them not on this page`; nothing where all of them are."""
    here = {item.id for item in shown}
    count = sum(item.id not in here for item in selected)
    return f"{count} of them not on this page" if count else ""


def _kept(name: str) -> str:
    return f"selected {name}"


def _cleared(name: str) -> str:
    return f"cleared {name}"
