"""The traces of a bundle: read in a limited child before anything is stored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.models import TraceRow
from db.session import Database
from db.store import TraceStore
from db.traces import ReadTrace, insert_trace, read_file
from profiles.bundle import Bundle, BundleError, extract_trace
from profiles.trace.errors import TraceError


@dataclass(frozen=True, slots=True)
class UnpackedTrace:
    """A trace that was read, and its raw file."""

    sha256: str
    path: Path
    read: ReadTrace


def read_new_traces(db: Database, bundle: Bundle, directory: Path) -> tuple[UnpackedTrace, ...]:
    """The bundle's traces that the database does not have, unpacked into `directory` and read. BundleError where one
    of them is no trace."""
    with db.read() as session:
        known = set(session.scalars(select(TraceRow.sha256).where(TraceRow.sha256.in_(bundle.traces))))
    return tuple(_read(bundle, sha256, directory) for sha256 in sorted(bundle.traces - known))


def store_traces(session: Session, store: TraceStore, traces: Iterable[UnpackedTrace]) -> None:
    """The raw files first: a row never speaks of a file that is not there."""
    for trace in traces:
        store.put(trace.path)
        insert_trace(session, trace.sha256, trace.path.stat().st_size, trace.read)


def _read(bundle: Bundle, sha256: str, directory: Path) -> UnpackedTrace:
    folder = directory / sha256
    folder.mkdir()
    path = folder / "trace.json.gz"
    extract_trace(bundle, sha256, path)
    try:
        return UnpackedTrace(sha256, path, read_file(path, folder))
    except (TraceError, ValueError) as error:
        raise BundleError(f"{bundle.path}: traces/{sha256}.json.gz: {error}") from error
