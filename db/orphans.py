"""Files of the store that no row names, and those that were never finished: what a crash between file and row left."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.import_removal import FORGOTTEN_S
from db.locking import nobody_imports
from db.models import ImportedTraceRow, RunArtefactRow, TraceRow
from db.session import Database
from db.store import Kind, TraceStore

log = logging.getLogger(__name__)

LOOKED_UP_AT_ONCE = 500
REMOVED_AT_ONCE = 20
FEW = 20

Item = TypeVar("Item")


def sweep_orphans(db: Database, store: TraceStore, *, older_than_s: float = FORGOTTEN_S) -> int:
    """Remove the files that no row names and that were put so long ago; how many there were.

    Whoever puts a file looks for it once more under the imports' lock, under which its row is stored and this removes.
    A store with more strangers than files of ours is taken for another database's, and is left as it is.
    """
    listing = store.listing()
    removed = store.remove_unfinished(listing, older_than_s=older_than_s)
    orphans = [
        (kind, sha256)
        for kind, hashes in listing.hashes.items()
        for sha256 in _unnamed(db, kind, hashes)
        if store.is_old(kind, sha256, older_than_s=older_than_s)
    ]
    ours = sum(map(len, listing.hashes.values())) - len(orphans)
    if len(orphans) > max(FEW, ours):
        log.warning(
            "the trace store holds %d files that this database does not name, and %d that it does: is it another "
            "database's? None was removed",
            len(orphans),
            ours,
        )
        return removed
    return removed + sum(_remove(db, store, some, older_than_s) for some in _in_parts(orphans, REMOVED_AT_ONCE))


def _unnamed(db: Database, kind: Kind, hashes: Sequence[str]) -> Iterator[str]:
    for some in _in_parts(hashes, LOOKED_UP_AT_ONCE):
        with db.read() as session:
            named = _named(session, kind, some)
        yield from (sha256 for sha256 in some if sha256 not in named)


def _remove(db: Database, store: TraceStore, orphans: Sequence[tuple[Kind, str]], older_than_s: float) -> int:
    """Those of them that still are. None while an import is under way."""
    with db.begin() as session:
        if not nobody_imports(session):
            return 0
        named = {kind: _named(session, kind, [sha256 for of, sha256 in orphans if of is kind]) for kind in Kind}
        return sum(
            sha256 not in named[kind] and store.remove_old(kind, sha256, older_than_s=older_than_s)
            for kind, sha256 in orphans
        )


def _named(session: Session, kind: Kind, hashes: Sequence[str]) -> frozenset[str]:
    """A raw file is a trace's that keeps it, or that of an import which an attempt left there as it died."""
    if kind is Kind.ARTEFACT:
        return frozenset(session.scalars(select(RunArtefactRow.sha256).where(RunArtefactRow.sha256.in_(hashes))))
    kept = select(TraceRow.sha256).where(TraceRow.sha256.in_(hashes), TraceRow.raw_removed_at.is_(None))
    unread = select(ImportedTraceRow.sha256).where(
        ImportedTraceRow.sha256.in_(hashes), ImportedTraceRow.spool.is_not(None)
    )
    return frozenset(session.scalars(kept)) | frozenset(session.scalars(unread))


def _in_parts(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    return (items[first : first + size] for first in range(0, len(items), size))
