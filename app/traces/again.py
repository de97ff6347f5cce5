"""Reading a file once more where the worker failed and not the file: such files are kept."""

from __future__ import annotations

import streamlit as st

from app.context import database, settings
from app.markup import mono, page
from app.traces.facts import NOT_THE_FILE
from db.errors import IllegalMove, NotFound
from db.import_claims import retry_import
from db.views import ComparedTrace, ComparisonView
from profiles.trace.printable import printable
from workers.dispatch import publish_import


def ways_on(view: ComparisonView) -> None:
    """A button for each file that is worth another try."""
    for trace in view.traces:
        if trace.failure is not None and trace.failure.kind in NOT_THE_FILE and trace.imported is not None:
            _way_on(trace, trace.imported.id)


def _way_on(trace: ComparedTrace, import_id: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"again {trace.key}"):
        st.html(page(f'<p class="fs-muted">The file {mono(printable(trace.label))} was kept.</p>'), width="content")
        if st.button("Read it again", icon=":material/replay:", key=f"read again {import_id}"):
            _again(import_id)


def _again(import_id: int) -> None:
    """Someone else may have been first."""
    try:
        retry_import(database(), import_id)
    except (IllegalMove, NotFound) as error:
        st.toast(str(error))
        return
    publish_import(settings(), import_id)
    st.rerun()
