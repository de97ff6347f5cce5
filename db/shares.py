"""Share links: a token opens one comparison and nothing else. Only the token's hash is stored."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TypeVar

import msgspec
from sqlalchemy import ColumnElement, and_, or_, select, update

from db.clock import now
from db.comparisons import find_comparison
from db.discretion import discreet, without_machine
from db.errors import NotFound
from db.models import ComparisonRow, ShareLinkRow, TraceRow
from db.session import Database
from db.views import ComparedRun, ComparedTrace, ComparisonView, ShareLink, ViewState
from profiles.results import Run
from profiles.trace.contents import TraceContents
from profiles.trace.summary import TraceSummary

Told = TypeVar("Told", TraceSummary | None, TraceContents | None)

TOKEN_BYTES = 24  # 192 bits
COMPARISON = "comparison"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedComparison:
    """What a link opens: the comparison, with the link's view for its own. No text tells under whose account a file
    lay, and unless the link shows hosts, none names a machine, or the folders of an absolute path."""

    link: ShareLink
    comparison: ComparisonView


def make_link(
    db: Database,
    comparison_id: int,
    *,
    view: ViewState | None = None,
    note: str | None = None,
    expires_at: datetime | None = None,
    show_hosts: bool = False,
    created_by: str | None = None,
) -> tuple[str, ShareLink]:
    """(token, link). The token cannot be read again: a lost link is made anew.

    `view` is what the link opens with, for good; None takes the comparison's own.
    """
    token = secrets.token_urlsafe(TOKEN_BYTES)
    with db.begin() as session:
        shown = session.get(ComparisonRow, comparison_id)
        if shown is None:
            raise NotFound(f"there is no comparison {comparison_id}")
        row = ShareLinkRow(
            token_hash=_hash(token),
            hint=token[-4:],
            scope=COMPARISON,
            comparison_id=comparison_id,
            view=view or shown.view,
            note=note,
            show_hosts=show_hosts,
            created_by=created_by,
            expires_at=expires_at,
        )
        session.add(row)
        session.flush()
        session.refresh(row)
        return token, _link(row)


def open_link(db: Database, token: str) -> SharedComparison | None:
    """Open a link and count it; None where it is unknown, revoked or expired (which of these is nobody's business)."""
    count = (
        update(ShareLinkRow)
        .where(_opens(token))
        .values(opened=ShareLinkRow.opened + 1)
        .returning(ShareLinkRow)
        .execution_options(populate_existing=True)
    )
    with db.begin() as session:
        row = session.scalar(count)
        if row is None:
            return None
        return _shared(_link(row), find_comparison(session, row.comparison_id))


def look_up_link(db: Database, token: str) -> SharedComparison | None:
    """As `open_link`, without counting: for reruns of an opened page and for its data routes."""
    with db.read() as session:
        row = session.scalar(select(ShareLinkRow).where(_opens(token)))
        if row is None:
            return None
        return _shared(_link(row), find_comparison(session, row.comparison_id))


def links(db: Database, comparison_id: int) -> tuple[ShareLink, ...]:
    """All links to a comparison, also revoked and expired ones, latest first."""
    query = select(ShareLinkRow).where(ShareLinkRow.comparison_id == comparison_id).order_by(ShareLinkRow.id.desc())
    with db.read() as session:
        return tuple(_link(row) for row in session.scalars(query))


def revoke_link(db: Database, link_id: int) -> None:
    """From now on the link opens nothing. A link that was revoked before stays as it is."""
    with db.begin() as session:
        row = session.get(ShareLinkRow, link_id, with_for_update=True)
        if row is None:
            raise NotFound(f"there is no link {link_id}")
        if row.revoked_at is None:
            row.revoked_at = now()


def _opens(token: str) -> ColumnElement[bool]:
    return and_(
        ShareLinkRow.token_hash == _hash(token),
        ShareLinkRow.scope == COMPARISON,
        ShareLinkRow.revoked_at.is_(None),
        or_(ShareLinkRow.expires_at.is_(None), ShareLinkRow.expires_at > now()),
    )


def _hash(token: str) -> str:
    """A plain hash will do: a token of 192 random bits cannot be guessed from it."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def _link(row: ShareLinkRow) -> ShareLink:
    return ShareLink(
        id=row.id,
        comparison_id=row.comparison_id,
        hint=row.hint,
        view=row.view,
        note=row.note,
        show_hosts=row.show_hosts,
        created_at=row.created_at,
        created_by=row.created_by,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        opened=row.opened,
    )


def host_of_trace(db: Database, trace_id: int) -> str | None:
    """The machine that a stored trace says it was recorded on."""
    with db.read() as session:
        summary = session.scalar(select(TraceRow.summary).where(TraceRow.id == trace_id))
    return summary.rank.host if summary is not None and summary.rank is not None else None


def hosts_named(host: str | None) -> tuple[str, ...]:
    """A machine's whole name, and its first part where it has a domain."""
    return () if not host else tuple(dict.fromkeys((host, host.split(".", 1)[0])))


def _shared(link: ShareLink, comparison: ComparisonView) -> SharedComparison:
    shown = replace(comparison, view=link.view)
    if link.show_hosts:
        entries, traces = discreet(comparison.entries), discreet(comparison.traces)
        return SharedComparison(link=link, comparison=replace(shown, entries=entries, traces=traces))
    hosts = _hosts(comparison)
    tell = partial(without_machine, hosts=hosts)
    return SharedComparison(
        link=link,
        comparison=replace(
            shown,
            name=tell(shown.name),
            entries=tuple(_without_host(discreet(entry, tell)) for entry in shown.entries),
            traces=tuple(_trace_without_host(discreet(trace, tell)) for trace in shown.traces),
        ),
    )


def _hosts(comparison: ComparisonView) -> tuple[str, ...]:
    """Of all that it shows: one file may name the machine of another."""
    conditions = [entry.run.conditions for entry in comparison.entries if entry.run is not None]
    ranks = [told.rank for trace in comparison.traces for told in (trace.summary, trace.contents) if told is not None]
    found = [named.host for named in (*conditions, *ranks) if named is not None]
    return tuple(dict.fromkeys(name for host in found for name in hosts_named(host)))


def _without_host(entry: ComparedRun) -> ComparedRun:
    run: Run | None = entry.run
    if run is None or run.conditions is None:
        return entry
    nameless = msgspec.structs.replace(run.conditions, host=None)
    return replace(entry, run=msgspec.structs.replace(run, conditions=nameless))


def _trace_without_host(trace: ComparedTrace) -> ComparedTrace:
    """Nor who sent it."""
    summary, contents = _rank_without_host(trace.summary), _rank_without_host(trace.contents)
    imported = trace.imported
    if imported is not None:
        imported = replace(imported, summary=_rank_without_host(imported.summary), submitted_by=None)
    return replace(trace, imported=imported, summary=summary, contents=contents)


def _rank_without_host(told: Told) -> Told:
    """Of a summary or contents: what a recording says of its rank stands in both."""
    if told is None or told.rank is None:
        return told
    return msgspec.structs.replace(told, rank=msgspec.structs.replace(told.rank, host=None))
