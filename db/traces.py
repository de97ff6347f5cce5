"""Traces: the raw file in the store, what it says as a row, its slices in chunks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from db.clock import now
from db.errors import NotFound
from db.insertion import insert_new
from db.kernels import kernel_ids
from db.locking import one_import_at_a_time
from db.models import RunRow, TimelineChunkRow, TraceKernelRow, TraceRow
from db.records import TimelineTables
from db.session import Database
from db.store import TraceStore
from db.timelines import CODEC, Chunk, chunks_of, tables_of, timeline_of
from profiles.results import Finding
from profiles.trace.child import parse_in_child
from profiles.trace.contents import TraceContents
from profiles.trace.summary import TraceSummary
from profiles.trace.timeline import Timeline
from profiles.trace.timeline import load_timeline as read_timeline

TOLD_OF_KERNELS = ("short_name", "role", "calls", "total_ns", "min_ns", "p50_ns", "p95_ns", "max_ns")


@dataclass(frozen=True, slots=True)
class StoredTrace:
    """A trace that is stored: its raw file and its timeline. `raw_returned`: the raw file was no longer kept before."""

    sha256: str
    raw_returned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTrace:
    """What a trace file says, ready to be stored: all but the raw file."""

    summary: TraceSummary
    contents: TraceContents | None
    tables: TimelineTables
    chunks: tuple[Chunk, ...]


def save_trace(
    db: Database,
    store: TraceStore,
    path: Path,
    timeline: Timeline,
    summary: TraceSummary,
    *,
    contents: TraceContents | None = None,
) -> StoredTrace:
    """Keep a trace: first the raw file, whole or not at all, then the row with all its chunks in one transaction.

    The same file twice is one trace. It takes turns with all that removes raw files: the same one, of an import that
    was deleted or stored long ago, may have gone meanwhile.
    """
    read = read_of(timeline, summary, contents)
    sha256 = store.put(path)
    with db.begin() as session:
        one_import_at_a_time(session)
        if not store.holds(sha256):
            store.put(path)
        raw_returned = keep_raw(session, sha256)
        insert_trace(session, sha256, path.stat().st_size, read)
    return StoredTrace(sha256, raw_returned)


def read_file(path: Path, directory: Path) -> ReadTrace:
    """What the file says, read in a limited child that works in `directory`. TraceError when it gives no trace."""
    parsed = parse_in_child(path, device=None, directory=directory)
    return read_of(read_timeline(parsed.timeline_path), parsed.summary, parsed.contents)


def read_of(timeline: Timeline, summary: TraceSummary, contents: TraceContents | None) -> ReadTrace:
    return ReadTrace(summary=summary, contents=contents, tables=tables_of(timeline), chunks=tuple(chunks_of(timeline)))


def insert_trace(session: Session, sha256: str, size_bytes: int, read: ReadTrace) -> int:
    """The trace's id, after storing the rows of one whose raw file is stored. To one that is there only contents that
    it lacks are added, and its file is kept. The caller holds the imports' lock."""
    if (known := _id(session, sha256)) is not None:
        keep_raw(session, sha256)
        _add_contents(session, known, read.contents)
        return known
    values = {
        "sha256": sha256,
        "size_bytes": size_bytes,
        "slices": sum(chunk.n for chunk in read.chunks),
        "health": read.summary.health,
        "summary": read.summary,
        "tables": read.tables,
    }
    if not insert_new(session, TraceRow, [values], key="sha256"):
        return _known_id(session, sha256)  # another writer was first, and has committed the chunks too
    trace_id = _known_id(session, sha256)
    session.add_all(
        TimelineChunkRow(trace_id=trace_id, seq=seq, t0=chunk.t0, t1=chunk.t1, n=chunk.n, codec=CODEC, data=chunk.data)
        for seq, chunk in enumerate(read.chunks)
    )
    session.flush()
    _add_contents(session, trace_id, read.contents)
    return trace_id


def keep_raw(session: Session, sha256: str) -> bool:
    """The raw file of a trace is stored, again or still, and kept from now on as that of a new one: whether it was no
    longer kept. The caller holds the imports' lock."""
    of_it = TraceRow.sha256 == sha256
    removed_at = session.scalar(select(TraceRow.raw_removed_at).where(of_it))
    session.execute(update(TraceRow).where(of_it).values(raw_removed_at=None, stored_at=now()))
    return removed_at is not None


@dataclass(frozen=True, slots=True)
class TraceIdentity:
    """Which trace it is: its number here, and the hash of its file."""

    trace_id: int
    sha256: str


def identify_trace(db: Database, *, run_id: int | None = None, trace_id: int | None = None) -> TraceIdentity | None:
    """The trace of that number, or of that run; None where there is none. It reads no more than it returns."""
    query = select(TraceRow.id, TraceRow.sha256)
    if run_id is None:
        query = query.where(TraceRow.id == trace_id)
    else:
        query = query.join(RunRow, RunRow.trace_id == TraceRow.id).where(RunRow.id == run_id)
    with db.read() as session:
        found = session.execute(query).one_or_none()
    return None if found is None else TraceIdentity(*found)


def load_timeline_of(db: Database, trace_id: int) -> Timeline:
    """The timeline of a trace. NotFound where there is no such trace."""
    with db.read() as session:
        return _timeline(session, _row(session, trace_id))


def trace_health(db: Database, trace_id: int) -> tuple[Finding, ...]:
    """What is missing or impossible in a trace. NotFound where there is no such trace."""
    with db.read() as session:
        return _row(session, trace_id).health


def _timeline(session: Session, trace: TraceRow) -> Timeline:
    chunks = select(TimelineChunkRow.data).where(TimelineChunkRow.trace_id == trace.id).order_by(TimelineChunkRow.seq)
    return timeline_of(trace.tables, session.scalars(chunks).all())


def _row(session: Session, trace_id: int) -> TraceRow:
    trace = session.get(TraceRow, trace_id)
    if trace is None:
        raise NotFound(f"there is no trace {trace_id}")
    return trace


def _add_contents(session: Session, trace_id: int, contents: TraceContents | None) -> None:
    """Once: whoever adds them holds the row until both they and the kernels' rows are there."""
    if contents is None:
        return
    lacking = update(TraceRow).where(TraceRow.id == trace_id, TraceRow.contents.is_(None)).values(contents=contents)
    if session.scalar(lacking.returning(TraceRow.id)) is None:
        return
    ids = kernel_ids(session, {kernel.name: kernel.role for kernel in contents.kernels})
    session.add_all(
        TraceKernelRow(
            trace_id=trace_id,
            place=place,
            kernel_id=ids[kernel.name],
            **{column: getattr(kernel, column) for column in TOLD_OF_KERNELS},
        )
        for place, kernel in enumerate(contents.kernels)
    )
    session.flush()


def _known_id(session: Session, sha256: str) -> int:
    return session.execute(select(TraceRow.id).where(TraceRow.sha256 == sha256)).scalar_one()


def _id(session: Session, sha256: str) -> int | None:
    return session.scalar(select(TraceRow.id).where(TraceRow.sha256 == sha256))
