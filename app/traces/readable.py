"""Those traces of a comparison that are read, and what comparing them says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from db.views import ComparedTrace
from profiles.comparison.traces.compared import compared
from profiles.comparison.traces.document import ComparedTraces
from profiles.comparison.traces.entry import MOST
from profiles.trace.contents import TraceContents
from profiles.trace.summary import TraceSummary

COMPARISONS_KEPT = 16


@dataclass(frozen=True, slots=True)
class ReadTrace:
    """Known by its number, as what a trace holds never changes, and by `told`, how its texts are: links tell them
    otherwise than our own pages do."""

    key: str
    label: str
    trace_id: int | None
    told: int
    summary: TraceSummary = field(compare=False)
    contents: TraceContents | None = field(compare=False)


def readable(traces: Iterable[ComparedTrace]) -> list[ReadTrace]:
    return [
        ReadTrace(t.key, t.label, t.trace_id, _told(t.summary, t.contents), t.summary, t.contents)
        for t in traces
        if t.summary is not None
    ]


def side_by_side(traces: Iterable[ReadTrace], base_key: str | None) -> tuple[ReadTrace, ...]:
    """As many as are compared at once, in order; the baseline is among them."""
    ordered = list(traces)
    base = [trace for trace in ordered if trace.key == base_key][:1]
    others = [trace for trace in ordered if trace not in base][: MOST - len(base)]
    return tuple(trace for trace in ordered if trace in base or trace in others)


@lru_cache(maxsize=COMPARISONS_KEPT)
def told(traces: tuple[ReadTrace, ...], base_key: str | None) -> ComparedTraces:
    """Of at least two traces; a `base_key` that is none of theirs counts as none."""
    known = base_key if any(trace.key == base_key for trace in traces) else None
    return compared(traces, known)


def _told(summary: TraceSummary, contents: TraceContents | None) -> int:
    """A hash of all its texts; its numbers are the same whoever is told."""
    texts = () if contents is None else (contents.kernels, contents.callers, contents.instances, contents.rank)
    return hash((summary, *texts))
