"""Traces side by side as one document: what `fusescope compare` prints of traces, and the pages and routes show."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from profiles.comparison.parts import plain
from profiles.comparison.traces.answer import answer, baseline
from profiles.comparison.traces.caveat import caveat
from profiles.comparison.traces.difference import compare
from profiles.comparison.traces.document import ComparedTraces, TraceFacts, What
from profiles.comparison.traces.entry import (
    FEWEST,
    MOST,
    Basis,
    ComparedTrace,
    TraceT,
    basis_of,
    vendor_of,
    working_steps,
)
from profiles.comparison.traces.figures import count_figure, kernel_time_figure, role_figures, span_figure
from profiles.comparison.traces.ranks import jobs


def compared(
    traces: Sequence[TraceT], base_key: str | None = None, source: Callable[[TraceT], str | None] | None = None
) -> ComparedTraces:
    """`source` says where a trace comes from. ValueError for fewer than two traces, more than eight, or a baseline that
    is not among them."""
    if not FEWEST <= len(traces) <= MOST:
        raise ValueError(f"{len(traces)} traces; expected {FEWEST} to {MOST} to compare")
    keys = [trace.key for trace in traces]
    if base_key is not None and base_key not in keys:
        raise ValueError(f"no trace has the key {base_key!r}; expected one of {', '.join(keys)}")
    base = baseline(traces, base_key)
    differences = tuple(compare(base, trace) for trace in traces if trace is not base)
    warning = caveat(traces, base.key, differences=differences)
    return ComparedTraces(
        baseline=base.key,
        answer=answer(traces, base.key, differences=differences).text,
        caveat=None if warning is None else f"{warning.label}: {plain(warning.parts)}",
        traces=tuple(
            facts(trace, is_baseline=trace is base, source=source(trace) if source else None) for trace in traces
        ),
        differences=differences,
        jobs=jobs(traces),
    )


def facts(trace: ComparedTrace, *, is_baseline: bool, source: str | None = None) -> TraceFacts:
    """One trace by itself: per step where it tells its steps, whatever the others do."""
    basis, _ = basis_of(trace)
    rank = trace.contents.rank if trace.contents is not None else None
    return TraceFacts(
        key=trace.key,
        label=trace.label,
        source=source,
        baseline=is_baseline,
        format=trace.summary.format,
        devices=tuple(dict.fromkeys(device.name or f"device {device.index}" for device in trace.summary.devices)),
        vendor=vendor_of(trace),
        rank=rank.rank if rank else None,
        world_size=rank.world_size if rank else None,
        basis=basis,
        steps=_steps(trace, basis),
        kernels=count_figure(trace, What.KERNELS, basis),
        copies=count_figure(trace, What.COPIES, basis),
        fills=count_figure(trace, What.FILLS, basis),
        launches=count_figure(trace, What.LAUNCHES, basis),
        graph_launches=count_figure(trace, What.GRAPH_LAUNCHES, basis),
        kernel_time=kernel_time_figure(trace, basis),
        span=span_figure(trace, basis),
        roles=role_figures(trace, basis),
        health=trace.summary.health,
    )


def _steps(trace: ComparedTrace, basis: Basis) -> int:
    """Those that figures are of, without the ones that launched nothing; else all that are marked."""
    held = trace.contents
    if held is None:
        return len(trace.summary.steps)
    return held.step_count - (len(held.steps) - len(working_steps(held)) if basis is Basis.STEP else 0)
