"""What can be done with a comparison of traces: put others beside it, export it, take the raw files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from app import addresses
from app.comparison.choice import Choice
from app.comparison.routes import export_url
from app.context import database, settings, zone
from app.pages import links
from app.raw_files import removed_text
from app.traces.beside import query, source
from db.imports import rename_import
from db.views import ComparedTrace, ComparisonView, ImportStatus
from profiles.trace.printable import printable

MOST_RAW = 8


def add_link(view: ComparisonView) -> None:
    """To History's list of traces, which takes these along."""
    if all(trace.status is ImportStatus.FAILED for trace in view.traces):
        return
    label = "Compare with another" if len(view.traces) == 1 else "Add traces"
    links.page_link(
        label, addresses.HISTORY, query=query([source(trace) for trace in view.traces]), icon=":material/add:"
    )


def export_popover(view: ComparisonView, choice: Choice) -> None:
    with st.popover("Export"):
        chosen = {"base": choice.base or ""}
        st.link_button("JSON", export_url(view.id, "json", **chosen), width="stretch")
        st.link_button("CSV of kernels", export_url(view.id, "csv", **chosen), width="stretch")
        imported = [trace for trace in view.traces if trace.imported is not None and trace.status is ImportStatus.DONE]
        for trace in imported[:MOST_RAW]:
            _raw_file(trace, alone=len(imported) == 1)


def renaming(view: ComparisonView) -> Callable[[str], None] | None:
    """The page of one imported trace is that trace's: what it is called there it is called everywhere."""
    imported = view.traces[0].imported if len(view.traces) == 1 else None
    return None if imported is None else partial(rename_import, database(), imported.id)


def _raw_file(trace: ComparedTrace, *, alone: bool) -> None:
    """A way to it, or why there is none any more."""
    assert trace.imported is not None, "only imported traces have a file of their own"
    if trace.imported.raw_removed_at is None:
        st.link_button(_raw_label(trace, alone=alone), _raw_url(trace), width="stretch")
        return
    removed = removed_text(trace.imported.raw_removed_at, keep_days=settings().keep_raw_days, zone=zone())
    st.caption(f"{'The file as it came' if alone else f'File {trace.key}'}: {removed}.")


def _raw_label(trace: ComparedTrace, *, alone: bool) -> str:
    return "The file as it came" if alone else f"File {trace.key}: {printable(trace.label)[:40]}"


def _raw_url(trace: ComparedTrace) -> str:
    assert trace.imported is not None, "only imported traces have a file of their own"
    return f"api/v1/traces/{trace.imported.id}/raw"
