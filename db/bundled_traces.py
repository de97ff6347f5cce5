"""The traces of a bundle, between the bundle and the store: read in a limited child before anything is stored."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.errors import NotFound
from db.models import TraceRow
from db.raw_imports import keep_known
from db.session import Database
from db.store import TraceStore
from db.traces import ReadTrace, insert_trace, read_file
from profiles.bundle import Bundle, BundleError, extract_trace
from profiles.results import Results
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


def keep_known_traces(session: Session, store: TraceStore, bundle: Bundle, directory: Path) -> int:
    """The raw files of traces that were stored before are kept anew: how many of them were no longer kept."""
    returned = 0
    for sha256 in sorted(bundle.traces):
        path = directory / f"{sha256}.json.gz"

        def put(sha256: str = sha256, path: Path = path) -> None:
            extract_trace(bundle, sha256, path)
            store.put(path)

        returned += keep_known(session, store, sha256, put)
    return returned


def missing_traces(session: Session, results: Iterable[Results]) -> int:
    """How many traces the runs name that are stored neither by the bundle nor before."""
    named = named_traces(results)
    return len(named) - len(set(session.scalars(select(TraceRow.sha256).where(TraceRow.sha256.in_(named)))))


def named_traces(results: Iterable[Results]) -> frozenset[str]:
    """By SHA-256."""
    runs = (run for one in results for trial in one.trials for run in trial.runs)
    return frozenset(run.trace for run in runs if run.trace is not None)


def fetch_traces(store: TraceStore, wanted: Iterable[str], directory: Path) -> dict[str, Path]:
    """Copies of those that the store holds, by SHA-256."""
    fetched: dict[str, Path] = {}
    for sha256 in wanted:
        with suppress(NotFound):  # it is no longer kept
            store.fetch(sha256, directory / sha256)
            fetched[sha256] = directory / sha256
    return fetched


def _read(bundle: Bundle, sha256: str, directory: Path) -> UnpackedTrace:
    folder = directory / sha256
    folder.mkdir()
    path = folder / "trace.json.gz"
    extract_trace(bundle, sha256, path)
    try:
        return UnpackedTrace(sha256, path, read_file(path, folder))
    except (TraceError, ValueError) as error:
        raise BundleError(f"{bundle.path}: traces/{sha256}.json.gz: {error}") from error
