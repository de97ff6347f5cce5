"""Imported traces, as many as wanted, from a few recordings that are read once: each import has its own name, bytes and
versions of kernels, and goes through the database's own way of an import. The raw files alone are not there.

Recordings are those at FUSESCOPE_TRACES, else the tests' own, which hold few kernels.
"""

from __future__ import annotations

import hashlib
import os
import random
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from benchmarks.history.made import DEVICES, renamed
from db.import_claims import claim_import, finish_import
from db.imports import NewImport, register_import
from db.session import Database
from db.store import TraceStore
from db.trace_comparisons import compare_traces
from db.traces import ReadTrace, read_file
from profiles.trace.errors import TraceError

OWN = Path(__file__).parent.parent.parent / "tests" / "data" / "traces"
LARGEST = 400_000  # bytes of a file
MOST = 16
COMPARED = 5  # every so many-th import is compared with the one before it


def import_traces(db: Database, count: int, *, seed: int = 0) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    recorded = _recorded(min(count, MOST))
    last = None
    with TemporaryDirectory(prefix="fusescope-history-") as directory:
        for number in range(count):
            file_name, read = recorded[number % len(recorded)]
            name = f"{seed}_{number:04}_{file_name}"
            import_id = _import(db, TraceStore(directory), name, _varied(read, chance))
            if last is not None and number % COMPARED == 1:
                compare_traces(db, [("import", last), ("import", import_id)], name=f"Traces {number}")
            last = import_id


@cache
def _recorded(count: int) -> list[tuple[str, ReadTrace]]:
    """By the names of the files; those that are no trace or a large one are left out."""
    found: list[tuple[str, ReadTrace]] = []
    for path in sorted(Path(os.environ.get("FUSESCOPE_TRACES", OWN)).glob("*.json.gz")):
        if path.stat().st_size <= LARGEST and len(found) < count:
            with suppress(TraceError), TemporaryDirectory(prefix="fusescope-history-") as directory:
                found.append((path.name, read_file(path, Path(directory))))
    return found


def _varied(read: ReadTrace, chance: random.Random) -> ReadTrace:
    """Without its slices, which no list looks at."""
    assert read.contents is not None
    version = chance.randrange(3 * len(DEVICES))
    kernels = tuple(
        msgspec.structs.replace(kernel, name=renamed(kernel.name, version)) for kernel in read.contents.kernels
    )
    contents = msgspec.structs.replace(read.contents, kernels=kernels)
    return ReadTrace(summary=read.summary, contents=contents, tables=read.tables, chunks=())


def _import(db: Database, store: TraceStore, file_name: str, read: ReadTrace) -> int:
    sha256 = hashlib.sha256(file_name.encode()).hexdigest()
    new = NewImport(name=file_name, file_name=file_name, sha256=sha256, size_bytes=1 << 20, spool=sha256[:32])
    registered = register_import(db, new, submitted_by="bench")
    held = claim_import(db, registered.import_id, worker="h200")
    assert held is not None
    finish_import(db, store, held, read)
    return registered.import_id
