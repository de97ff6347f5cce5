"""What is selected in a list of many pages: it outlives turned pages and other filters, until it is used or cleared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

import streamlit as st
from streamlit.elements.arrow import DataframeStateInput
from streamlit.elements.lib.column_types import ColumnConfig

from app.pages.grid import ROW_PX, height
from app.pages.paging import pager
from db.views import Page


class Listed(Protocol):
    @property
    def id(self) -> int: ...


Item = TypeVar("Item", bound=Listed)


def show_list(
    name: str,
    found: Page[Item],
    *,
    table: Callable[[Page[Item]], list[int]],
    actions: Callable[[Sequence[Item], Sequence[Item]], None],
    per_page: int,
    empty: str,
) -> None:
    """A page of the list. `table` draws it and tells the rows that are selected; `actions` gets all that is selected,
    in the order of selecting, and what is shown."""
    if not found.items:
        st.html(empty)
        return
    selected = _keep(name, found.items, table(found))
    with st.container(horizontal=True, vertical_alignment="center"):
        actions(selected, found.items)
        st.space("stretch")
        pager(found.total, per_page)


def select_rows(
    name: str,
    shown: Sequence[Listed],
    table: Mapping[str, Sequence[object]],
    *,
    columns: Mapping[str, ColumnConfig],
    alt: str,
) -> list[int]:
    """Draw these columns and tell the rows that are selected."""
    state = st.dataframe(
        table,
        key=_table_key(name, shown),
        on_select="rerun",
        selection_default=_ticked(name, shown),
        selection_mode="multi-row",
        row_height=ROW_PX,
        height=height(len(shown)),
        hide_index=True,
        placeholder="–",
        column_config=columns,
        alt=alt,
    )
    return sorted(state["selection"]["rows"])


def clear(name: str) -> None:
    st.session_state[_kept(name)] = {}
    st.session_state[_cleared(name)] = st.session_state.get(_cleared(name), 0) + 1


def clear_button(name: str, selected: Sequence[Listed]) -> None:
    if selected:
        st.button("Clear", type="tertiary", key=f"clear {name}", on_click=clear, args=(name,))


def caption(told: str, selected: Sequence[Listed], shown: Sequence[Listed]) -> None:
    """`told`, and how many of them are on other pages: `2 of them not on this page`."""
    here = {item.id for item in shown}
    count = sum(item.id not in here for item in selected)
    st.caption(", ".join(filter(None, (told, f"{count} of them not on this page" if count else ""))))


def _table_key(name: str, shown: Sequence[Listed]) -> str:
    """Of the table of these rows. Another page is another table, and so is the same one once the list is cleared."""
    return f"{name} {[item.id for item in shown]} {st.session_state.get(_cleared(name), 0)}"


def _ticked(name: str, shown: Sequence[Listed]) -> DataframeStateInput:
    """How the table of these rows begins."""
    kept = st.session_state.get(_kept(name), {})
    rows = [place for place, item in enumerate(shown) if item.id in kept]
    return {"selection": {"rows": rows}}


def _keep(name: str, shown: Sequence[Item], rows: Sequence[int]) -> list[Item]:
    """All that is selected, on every page, in the order of selecting; on this one these rows of `shown` are."""
    here = {shown[row].id: shown[row] for row in sorted(rows)}
    gone = {item.id for item in shown} - here.keys()
    before: dict[int, Item] = st.session_state.get(_kept(name), {})
    kept = {item_id: item for item_id, item in before.items() if item_id not in gone} | here
    st.session_state[_kept(name)] = kept
    return list(kept.values())


def _kept(name: str) -> str:
    return f"selected {name}"


def _cleared(name: str) -> str:
    return f"cleared {name}"
