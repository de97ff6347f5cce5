"""From a file to a trace: the one entrance for every format."""

from __future__ import annotations

from pathlib import Path

from profiles.trace.kineto import read_kineto
from profiles.trace.model import Trace, TraceLimits
from profiles.trace.source import read_blocks

DEFAULT_LIMITS = TraceLimits()


def read_trace(path: Path, *, limits: TraceLimits = DEFAULT_LIMITS) -> Trace:
    """The trace in `path`, gzip or not, judged by its content. TraceError when it gives none, OSError when it cannot
    be opened."""
    return read_kineto(read_blocks(path, limits), limits)
