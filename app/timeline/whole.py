"""All that a lane is first drawn from, packed as it is sent, and made ready while the page is still on its way."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from app.context import database
from app.timeline.encode import encode
from app.timeline.kept import kept
from app.timeline.lane import Lane
from app.timeline.opened import doubts_of, is_shared, load, trace_at
from app.timeline.shown import Part
from app.timeline.view import read_view
from db.session import Database
from db.traces import TraceIdentity

WHOLES_KEPT = 16  # of some MB at most
ahead = ThreadPoolExecutor(max_workers=1, thread_name_prefix="timelines-ahead")


@kept(WHOLES_KEPT)
def packed_whole(db: Database, trace: TraceIdentity, part: Part, shared: bool) -> bytes:
    shown = load(db, trace, part, shared=shared)
    return pack(encode(shown, doubts=doubts_of(db, trace, shown)))


def pack(columns: bytes) -> bytes:
    """Columns shrink to a quarter at the first level already; that of the server's own middleware takes six times as
    long for 6 % more."""
    return gzip.compress(columns, compresslevel=1)


def read_ahead(lanes: Iterable[Lane], view: str | None) -> None:
    """The browser asks for lanes once it has drawn the page around them: until then they are read and packed here."""
    db, part = database(), read_view(view).part
    for lane in lanes:
        trace = trace_at(lane.url)
        if trace is not None:
            ahead.submit(packed_whole, db, trace, part, is_shared(lane.url))
