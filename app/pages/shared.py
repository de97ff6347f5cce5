"""What a share link opens: one comparison, read-only, and no way to anything else."""

from __future__ import annotations

from html import escape

import streamlit as st

from app.charts.style import css
from app.comparison.body import body, footnote
from app.comparison.choice import saved_choice
from app.comparison.facts import head_html
from app.comparison.routes import shared_url
from app.context import database, zone
from app.formatting import day
from app.markup import Tone, badge, page
from app.pages import compared_traces
from app.traces import facts
from db.shares import SharedComparison, look_up_link
from db.views import ComparisonKind, ShareLink

TOKEN = "token"  # noqa: S105 - the name of a query parameter
GONE = "This link does not exist or was revoked. Ask its sender for a new one."
PRINT = '<script>document.getElementById("fs-print").onclick = () => { window.print(); return false; };</script>'


def render() -> None:
    """Authorised in every run of the script: a link that is revoked meanwhile closes at the next one."""
    st.html(f"<style>{css()}</style>")
    token = st.query_params.get(TOKEN, "")
    shared = look_up_link(database(), token)
    if shared is None:
        st.html(page(f"<h1>Nothing here</h1><p>{GONE}</p>"))
        return
    _head(shared, token)
    if shared.comparison.kind is ComparisonKind.TRACES:
        compared_traces.render_shared(shared.comparison, token=token)
        return
    body(shared.comparison, lambda: saved_choice(shared.comparison), token=token)
    st.html(footnote())


def _head(shared: SharedComparison, token: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", key="head"):
        st.html(page(_origin(shared.link)))
        st.html(page(_files(token)) + PRINT, width="content", unsafe_allow_javascript=True)
    of_traces = shared.comparison.kind is ComparisonKind.TRACES
    head = facts.head_html if of_traces else head_html
    st.html(head(shared.comparison, zone=zone(), crumb=False))
    if shared.link.note:
        st.html(page(f'<p class="fs-note">“{escape(shared.link.note)}”</p>'))


def _origin(link: ShareLink) -> str:
    sender = f"from {link.created_by}, " if link.created_by else "made "
    expiry = "" if link.expires_at is None else f"<span>expires {day(link.expires_at, zone())}</span>"
    made = f"<span>{escape(sender)}{day(link.created_at, zone())}</span>"
    return f'<div class="fs-line">{badge("read-only link", Tone.IDLE)} {made}{expiry}</div>'


def _files(token: str) -> str:
    links = "".join(f'<a href="{escape(shared_url(token, kind))}">{kind.upper()}</a>' for kind in ("json", "csv"))
    return f'<div class="fs-line fs-files">{links}<a id="fs-print" href="#">Print</a></div>'
