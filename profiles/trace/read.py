"""From a file to a trace: the one entrance for every format."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from profiles.trace.kineto import read_kineto
from profiles.trace.model import Trace, TraceLimits
from profiles.trace.source import SQLITE, read_blocks

DEFAULT_LIMITS = TraceLimits()


def read_trace(path: Path, *, limits: TraceLimits = DEFAULT_LIMITS) -> Trace:
    """The trace in `path`, gzip or not, judged by its content. TraceError when it gives none, OSError when it cannot
    be opened."""
    blocks = read_blocks(path, limits)
    first = next(blocks)
    if first.startswith(SQLITE):
        from profiles.trace.nsight import read_nsight  # noqa: PLC0415 - who reads JSON does not wait for it

        with _unpacked(path, chain([first], blocks)) as database:
            return read_nsight(database)
    return read_kineto(chain([first], blocks), limits)


@contextmanager
def _unpacked(path: Path, blocks: Iterator[bytes]) -> Iterator[Path]:
    """A file with the blocks' content, which is `path` itself unless that is packed: SQLite reads here and there."""
    if _is_database(path):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="fusescope-") as directory:
        unpacked = Path(directory) / "export.sqlite"
        with unpacked.open("wb") as file:
            file.writelines(blocks)
        yield unpacked


def _is_database(path: Path) -> bool:
    """A pipe gives what it holds once: it is copied like something packed."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE
