"""Where trace files come in: Start's column and History's list of traces."""

from __future__ import annotations

import streamlit as st

from app.markup import page, section
from app.traces.accepted import accepted_text, most_bytes
from app.traces.upload.component import trace_upload

COMMAND = "fusescope import FILE"


def import_panel(*, key: str) -> None:
    st.html(section("Read a trace", aside="of any machine"))
    trace_upload(most_bytes=most_bytes(), accepted=accepted_text(), key=key)
    st.html(page('<p class="fs-muted">Or on the command line:</p>'))
    st.code(COMMAND, language=None)
