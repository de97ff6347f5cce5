"""Which pages there are. A share token in the address leaves the shared page alone: no navigation, no other page."""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import Page

from app import addresses
from app.pages import comparison, history, jobs, links, new_job, shared, start, workers

SHARED = "Shared comparison"
OTHERS = (addresses.NEW_JOB, addresses.JOBS, addresses.HISTORY, addresses.WORKERS, addresses.COMPARISON)


def current_page() -> Page:
    return _shared_page() if shared.TOKEN in st.query_params else _all_pages()


def _shared_page() -> Page:
    """The same at every page's address: none of them is there for a token."""
    pages = [st.Page(shared.render, title=SHARED, default=True)]
    pages += [st.Page(shared.render, title=SHARED, url_path=address) for address in OTHERS]
    return st.navigation(pages, position="hidden")


def _all_pages() -> Page:
    pages = {
        addresses.START: st.Page(start.render, title="Start", default=True),
        addresses.NEW_JOB: st.Page(new_job.render, title="New job", url_path=addresses.NEW_JOB),
        addresses.JOBS: st.Page(jobs.render, title="Jobs", url_path=addresses.JOBS),
        addresses.HISTORY: st.Page(history.render, title="History", url_path=addresses.HISTORY),
        addresses.WORKERS: st.Page(workers.render, title="Workers", url_path=addresses.WORKERS),
        addresses.COMPARISON: st.Page(
            comparison.render, title="Comparison", url_path=addresses.COMPARISON, visibility="hidden"
        ),
    }
    links.register(pages)
    return st.navigation(list(pages.values()), position="top")
