"""How long the raw files of traces are kept. What was read from them stays, and says since when they are gone."""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, exists, select, update

from db.clock import from_now, now
from db.locking import nobody_imports
from db.models import ImportedTraceRow, TraceRow
from db.session import Database
from db.store import TraceStore

AT_ONCE = 20
DAY_S = 86_400.0


def remove_old_raw(db: Database, store: TraceStore, *, keep_days: float, most: int = AT_ONCE) -> int:
    """Remove the raw files of the traces that were stored, or came again, longer ago than that; how many. At most so
    many at once, since others wait meanwhile, and none while an import is under way.

    The imports' lock is held until the rows say it: a file that comes again finds it either there or told to be gone.
    What breaks off half-way is done again, for its rows still say that the files are there.
    """
    old = _old(keep_days)
    with db.read() as session:
        if session.scalar(select(TraceRow.id).where(old).limit(1)) is None:
            return 0
    with db.begin() as session:
        if not nobody_imports(session):
            return 0
        query = select(TraceRow.id, TraceRow.sha256).where(old).order_by(TraceRow.stored_at).limit(most)
        hashes = dict(session.execute(query).all())
        session.execute(update(TraceRow).where(TraceRow.id.in_(hashes)).values(raw_removed_at=now()))
        for sha256 in hashes.values():
            store.remove(sha256)
    return len(hashes)


def _old(keep_days: float) -> ColumnElement[bool]:
    """But for a file that an import is still to be read from: an attempt that died at its end left it in this place."""
    unread = exists().where(ImportedTraceRow.sha256 == TraceRow.sha256, ImportedTraceRow.spool.is_not(None))
    return and_(TraceRow.raw_removed_at.is_(None), TraceRow.stored_at < from_now(-keep_days * DAY_S), ~unread)
