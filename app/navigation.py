"""Which pages there are. A share token in the address leaves the shared page alone: no navigation, no other page."""

from __future__ import annotations

from typing import Any

import streamlit as st

from app import addresses
from app.pages import history, jobs, links, new_job, start, workers


def current_page() -> Any:
    return _all_pages()


def _all_pages() -> Any:
    pages = {
        addresses.START: st.Page(start.render, title="Start", default=True),
        addresses.NEW_JOB: st.Page(new_job.render, title="New job", url_path=addresses.NEW_JOB),
        addresses.JOBS: st.Page(jobs.render, title="Jobs", url_path=addresses.JOBS),
        addresses.HISTORY: st.Page(history.render, title="History", url_path=addresses.HISTORY),
        addresses.WORKERS: st.Page(workers.render, title="Workers", url_path=addresses.WORKERS),
    }
    links.register(pages)
    return st.navigation(list(pages.values()), position="top")
