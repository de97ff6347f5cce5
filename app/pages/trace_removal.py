"""Deleting an imported trace from History's list: what goes and what stays is said before the second step."""

from __future__ import annotations

import streamlit as st

from app import context
from app.pages import selection
from db.errors import IllegalMove, NotFound
from db.import_removal import delete_import
from db.store import TraceStore
from db.views import ImportedTrace
from profiles.trace.printable import printable

REFUSED = "trace deletion refused"


def delete_popover(trace: ImportedTrace | None, *, of: str) -> None:
    """Of the one that is selected in list `of`."""
    with st.popover("Delete", disabled=trace is None, key="delete-trace"):
        if trace is not None:
            _ask(trace, of)


def _ask(trace: ImportedTrace, of: str) -> None:
    st.markdown(f"**Delete this trace?** {_escaped(printable(trace.name))}")
    st.caption("Its file, its timeline and the page that shows it alone go. Runs that have the same trace keep it.")
    refused = st.session_state.get(REFUSED)
    if refused is not None and refused[0] == trace.id:
        st.markdown(f":small[:orange[{_escaped(refused[1])}]]")
        label = "Delete it with these comparisons"
        st.button(label, type="primary", width="stretch", key="delete all", on_click=_delete, args=(trace.id, of, True))
        return
    st.button("Delete now", type="primary", width="stretch", key="delete now", on_click=_delete, args=(trace.id, of))


def _delete(import_id: int, of: str, with_comparisons: bool = False) -> None:
    store = TraceStore(context.settings().traces_url)
    try:
        delete_import(context.database(), store, import_id, with_comparisons=with_comparisons)
    except IllegalMove as error:
        st.session_state[REFUSED] = (import_id, str(error).partition(";")[0])
        return
    except NotFound as error:
        st.toast(str(error))
    st.session_state.pop(REFUSED, None)
    selection.clear(of)


def _escaped(text: str) -> str:
    """A popover speaks markdown."""
    return "".join(f"\\{letter}" if letter in r"\`*_{}[]()<>#+-.!|~:$" else letter for letter in text)
