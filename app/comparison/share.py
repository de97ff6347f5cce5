"""The Share popover: make a link (its token is shown once), see the links there are, revoke one in two steps.

A popover lies outside the element that carries our colours, so all in it is Streamlit's own.
"""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlsplit

import streamlit as st

from app.comparison.choice import Choice
from app.context import database, now, zone
from app.formatting import day, plural
from db.shares import links, make_link, revoke_link
from db.views import ComparisonKind, ComparisonView, ShareLink, ViewState

EXPIRIES = {"in 7 days": 7, "in 30 days": 30, "in a year": 365, "never": None}
HOSTS = {"hidden": False, "shown": True}
MADE, REVOKING = "share made", "share revoking"
BUTTON_PX = 64


def share_popover(view: ComparisonView, choice: Choice) -> None:
    with st.popover("Share", icon=":material/link:"):
        _share(view, choice)


@st.fragment
def _share(view: ComparisonView, choice: Choice) -> None:
    st.markdown("**Share this comparison**")
    st.caption(f"The link opens {_shown(view)} with this baseline and zoom, read-only, and nothing else.")
    left, right = st.columns(2)
    expiry = left.selectbox("Expires", list(EXPIRIES), index=1, key="share expires")
    hosts = right.selectbox("Host names", list(HOSTS), key="share hosts")
    note = st.text_input("Note for the reader", placeholder="optional", max_chars=500, key="share note")
    if st.button("Make a link", type="primary", width="stretch", key="make link"):
        _make(view, choice, days=EXPIRIES[expiry or "never"], show_hosts=HOSTS[hosts or "hidden"], note=note)
    made = st.session_state.get(MADE)
    if made is not None and made[0] == view.id:
        st.code(made[1], language=None, wrap_lines=True)
        st.markdown(":small[:orange[Copy it now: it is shown once.]]")
    for link in links(database(), view.id):
        _listed(link)


def _shown(view: ComparisonView) -> str:
    if view.kind is ComparisonKind.TRACES:
        return plural(len(view.traces), "trace")
    return plural(sum(entry.run is not None for entry in view.entries), "run")


def _make(view: ComparisonView, choice: Choice, *, days: int | None, show_hosts: bool, note: str) -> None:
    token, _ = make_link(
        database(),
        view.id,
        view=_seen(choice),
        note=note.strip() or None,
        expires_at=None if days is None else now() + timedelta(days=days),
        show_hosts=show_hosts,
    )
    st.session_state[MADE] = (view.id, f"{_root()}/s/{token}")


def _seen(choice: Choice) -> ViewState:
    """What the maker sees; of many sections' timelines, the first's."""
    lanes = tuple(st.session_state.get("tv") or choice.lanes)
    return ViewState(choice.base, str(choice.by), lanes, st.query_params.get("t", choice.zoom))


def _listed(link: ShareLink) -> None:
    if link.revoked_at is not None:
        st.caption(f"…{link.hint} · revoked {day(link.revoked_at, zone())} · opened {plural(link.opened, 'time')}")
        return
    is_asked = st.session_state.get(REVOKING) == link.id
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(_said(link), width="content")
        _revoking(link.id, is_asked=is_asked)
    if is_asked:
        st.caption("Whoever has the link loses the page at once. The comparison and its runs stay.")


def _revoking(link_id: int, *, is_asked: bool) -> None:
    """As in cancelling a job: the first button becomes the way back, and nothing moves under the pointer."""
    with st.container(horizontal=True, vertical_alignment="center", width="content", key=f"revoking {link_id}"):
        with st.container(horizontal=True, width="content", key=f"revoking step {link_id}"):
            if is_asked:
                st.button("Revoke now", key=f"revoke now {link_id}", on_click=_revoke, args=(link_id,))
        st.button(
            "Keep it" if is_asked else "Revoke",
            type="tertiary",
            key=f"revoke {link_id}",
            width=BUTTON_PX,
            on_click=_set,
            kwargs={REVOKING: None if is_asked else link_id},
        )


def _said(link: ShareLink) -> str:
    expired = link.expires_at is not None and link.expires_at <= now()
    expiry = (
        [] if link.expires_at is None else [f"{'expired' if expired else 'expires'} {day(link.expires_at, zone())}"]
    )
    made = f"…{link.hint} · made {day(link.created_at, zone())} · opened {plural(link.opened, 'time')}"
    return " · ".join([made, *expiry])


def _revoke(link_id: int) -> None:
    revoke_link(database(), link_id)
    _set(**{REVOKING: None, MADE: None})


def _set(**values: object) -> None:
    for name, value in values.items():
        st.session_state[name] = value


def _root() -> str:
    """Where this server is, as the viewer's browser knows it, with any base path."""
    address = urlsplit(st.context.url or "")
    return f"{address.scheme}://{address.netloc}{address.path.rpartition('/')[0]}"
