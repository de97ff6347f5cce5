"""What can be done with a comparison beside sharing it: export and rename."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from app.comparison.choice import Choice
from app.comparison.routes import export_url
from app.context import database, settings
from app.raw_files import removed_because
from db.comparisons import rename_comparison
from db.views import ComparisonView
from profiles.comparison.visits import walked


def export_popover(view: ComparisonView, choice: Choice) -> None:
    with st.popover("Export"):
        st.caption(_about_bundle(view))
        chosen = {"base": choice.base or "", "by": str(choice.by)}
        label = "Bundle, with traces" if _has_raw(view) else "Bundle, without traces"
        st.link_button(label, export_url(view.id, "fusescope"), width="stretch")
        st.link_button("JSON", export_url(view.id, "json", **chosen), width="stretch")
        st.link_button("CSV", export_url(view.id, "csv", **chosen), width="stretch")
        if walked(view.entries):
            st.link_button("First visits, CSV", export_url(view.id, "visits.csv"), width="stretch")


def _about_bundle(view: ComparisonView) -> str:
    removed = sum(entry.raw_removed_at is not None for entry in view.entries)
    if not removed:
        return "The bundle is loss-free: `fusescope import` reads it on any machine."
    whose, these = ("one run", "it has") if removed == 1 else (f"{removed:,} runs", "they have")
    return (
        f"`fusescope import` reads the bundle on any machine. It has every number. The traces of {whose} were removed, "
        f"{removed_because(settings().keep_raw_days)}: there {these} no timeline."
    )


def _has_raw(view: ComparisonView) -> bool:
    """Also where no run has a trace at all: then nothing is missing."""
    traced = [entry for entry in view.entries if entry.run is not None and entry.run.trace is not None]
    return not traced or any(entry.raw_removed_at is None for entry in traced)


def rename_popover(view: ComparisonView, *, also: Callable[[str], None] | None = None) -> None:
    """`also` takes the new name too, of what the comparison shows alone."""
    # A new name makes a new popover, which is closed.
    with st.popover("Rename", type="tertiary", key=f"rename {view.name}"), st.form("rename", border=False):
        name = st.text_input("Name", view.name, max_chars=200)
        if st.form_submit_button("Save", type="primary"):
            if name.strip():
                rename_comparison(database(), view.id, name)
                if also is not None:
                    also(name)
                st.rerun()
            st.markdown(":small[:red[A comparison needs a name.]]")
