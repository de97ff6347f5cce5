"""Comparisons of traces as files: what is compared as JSON, and the kernels of every trace as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import msgspec

from app.comparison.spreadsheet import Value, safe
from app.traces.doubt import reasons
from app.traces.readable import readable, side_by_side, told
from db.views import ComparedTrace
from profiles.comparison.traces.document import ComparedTraces
from profiles.comparison.traces.entry import FEWEST
from profiles.trace.contents import TraceContents
from profiles.trace.seen_kernels import SeenKernel
from profiles.trace.summary import TraceSummary

HEAD = (
    *("key", "trace", "kernel", "short_name", "role", "calls", "calls_per_step", "total_ns"),
    *("min_ns", "p50_ns", "p95_ns", "max_ns", "launched_by", "modules", "sources"),
    *("calls_with_inferred_causes", "doubtful"),
)


class ToldTrace(msgspec.Struct, frozen=True, kw_only=True):
    """All that is stored of one trace; None until it is read."""

    key: str
    label: str
    summary: TraceSummary | None
    contents: TraceContents | None


class TracesDocument(msgspec.Struct, frozen=True, kw_only=True):
    """`compared` is None where fewer than two traces are read."""

    compared: ComparedTraces | None
    traces: tuple[ToldTrace, ...]


def traces_json(traces: Sequence[ComparedTrace], *, base_key: str | None) -> bytes:
    read = readable(traces)
    document = TracesDocument(
        compared=told(side_by_side(read, base_key), base_key) if len(read) >= FEWEST else None,
        traces=tuple(
            ToldTrace(key=trace.key, label=trace.label, summary=trace.summary, contents=trace.contents)
            for trace in traces
        ),
    )
    return msgspec.json.encode(document)


def traces_csv(traces: Sequence[ComparedTrace]) -> str:
    """One line per kernel and trace, times in ns, what is not told left empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEAD)
    for trace in traces:
        kernels = trace.contents.kernels if trace.contents is not None else ()
        writer.writerows([safe(value) for value in _line(trace, kernel)] for kernel in kernels)
    return text.getvalue()


def _line(trace: ComparedTrace, kernel: SeenKernel) -> list[Value]:
    doubtful = reasons(trace.summary, "kernels", "kernel_sum_ns") if trace.summary is not None else ()
    return [
        *(trace.key, trace.label, kernel.name, kernel.short_name, kernel.role, kernel.calls),
        *("; ".join(map(str, kernel.per_step)) or None, kernel.total_ns),
        *(kernel.min_ns, kernel.p50_ns, kernel.p95_ns, kernel.max_ns),
        *("; ".join(kernel.launched_by), "; ".join(kernel.modules), "; ".join(kernel.sources)),
        kernel.inferred,
        "; ".join(doubtful) or None,
    ]
