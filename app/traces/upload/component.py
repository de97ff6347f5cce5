"""Choosing and sending trace files as a Streamlit component.

Not `st.file_uploader`: that one holds every file in the web process's memory. Here the browser sends each file to the
API, which spools it to disk.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import streamlit as st

from app import addresses
from app.timeline.component import CANVAS

NAME = "fusescope_trace_upload"
HERE = Path(__file__).parent
SOURCES = (CANVAS / "elements.js", *(HERE / f"{name}.js" for name in ("words", "file", "batch", "mount")))
HTML = """
<div class="import">
  <div class="drop">
    <button class="pick" type="button">Choose trace files</button><span class="or">or drop them here</span>
    <input type="file" multiple hidden tabindex="-1" aria-label="Trace files">
  </div>
  <p class="accepted"></p>
  <ul class="files" aria-label="Files on their way"></ul>
  <p class="end"></p>
  <output aria-live="polite"></output>
</div>
"""


def trace_upload(*, most_bytes: int, accepted: str, key: str) -> None:
    """`accepted` says what is accepted, with its limits; larger files are not sent at all."""
    draw = st.components.v2.component(NAME, html=HTML, css=_read(HERE / "upload.css"), js=script())
    data = {
        "most_bytes": most_bytes,
        "accepted": accepted,
        "traces": "api/v1/traces",
        "page": addresses.COMPARISON,
    }
    draw(key=key, data=data)


@cache
def script() -> str:
    """One module from several files: the browser gets it inline, so they cannot import each other."""
    return "\n".join(map(_read, SOURCES))


@cache
def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
