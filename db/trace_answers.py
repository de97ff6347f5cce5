"""The plain text that lists keep of a comparison of traces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from db.views import ComparedTrace
from profiles.comparison.figures import count
from profiles.comparison.traces.alone import alone
from profiles.comparison.traces.answer import answer
from profiles.trace.contents import TraceContents
from profiles.trace.summary import TraceSummary

SHOWN = 2


@dataclass(frozen=True, slots=True)
class _Read:
    """A trace that is read, as comparing takes it."""

    key: str
    label: str
    summary: TraceSummary
    contents: TraceContents | None


def whole_answer(traces: Sequence[ComparedTrace]) -> str | None:
    """Of one trace what it says, of several the first two compared. None until something is read or everything has
    ended."""
    read = [_Read(one.key, one.label, one.summary, one.contents) for one in traces if one.summary is not None]
    if not read:
        return _refused(traces) if all(one.failure is not None for one in traces) else None
    if len(read) == 1:
        return alone(read[0]).text
    told = answer(read[:SHOWN]).text
    others = len(read) - SHOWN
    return f"{told} And {count(others, 'more trace')}." if others else told


def _refused(traces: Sequence[ComparedTrace]) -> str | None:
    reasons = [f"{one.label} could not be read: {one.failure.message}." for one in traces if one.failure is not None]
    if not reasons:
        return None
    others = len(reasons) - 1
    return f"{reasons[0]} And {others} more could not be read." if others else reasons[0]
