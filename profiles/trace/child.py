"""Parse a trace in a process of its own, limited in memory and time: no file can take its reader down."""

from __future__ import annotations

from pathlib import Path

import msgspec

from profiles.trace.forward import ForwardSummary
from profiles.trace.summary import TraceSummary

MEMORY_LIMIT = 2 << 30


class ParsedTrace(msgspec.Struct, frozen=True, kw_only=True):
    """`forward` is None when no device was given; the timeline is a file that `load_timeline` reads."""

    summary: TraceSummary
    forward: ForwardSummary | None
    timeline_path: Path


def parse_in_child(
    path: Path, *, device: str | None, directory: Path, memory_limit: int = MEMORY_LIMIT, timeout_s: float = 120
) -> ParsedTrace:
    """Read `path` in a child that writes its results into `directory`. TraceError when the file gives no trace."""
    raise NotImplementedError
