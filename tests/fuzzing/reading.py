"""What must hold of every input: a refusal of our own, or results that are whole, finite and consistent; in time."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import msgspec

from profiles.comparison.traces.difference import compare
from profiles.comparison.traces.document import Change, TraceDifference
from profiles.trace.child import parse_in_child
from profiles.trace.contents import TraceContents, contents
from profiles.trace.errors import TraceError
from profiles.trace.forward import per_forward
from profiles.trace.read import read_trace
from profiles.trace.summary import TraceSummary, summarise
from profiles.trace.timeline import Timeline, load_timeline, save_timeline, timeline

LONGEST_S = 5.0


class Hang(BaseException):
    """More than LONGEST_S of processor time for one input; no reader's `except` holds it up."""


class _Held(NamedTuple):
    """A trace of a comparison."""

    key: str
    summary: TraceSummary
    contents: TraceContents
    label: str = "input"


def check_reading(content: bytes, directory: Path) -> bool:
    """Whether the content was read; False where it was refused as it should be. AssertionError, Hang, or whatever the
    reader let through, where it was not."""
    path = directory / "input.trace"
    path.write_bytes(content)
    with _in_time():
        try:
            trace = read_trace(path)
        except TraceError:
            return False
        summary, drawn, held = summarise(trace), timeline(trace), contents(trace)
        difference = compare(_Held("A", summary, held), _Held("B", summary, held))
        for device in ("cuda:0", "cpu"):
            _check_finite(per_forward(trace, device=device))
        save_timeline(drawn, directory / "timeline.npz")
    _check_finite(summary)
    _check_summary(summary)
    _check_finite(held)
    _check_contents(held, summary)
    _check_no_difference(difference)
    _check_timeline(drawn, slices=len(trace.slices))
    assert len(load_timeline(directory / "timeline.npz").start_ns) == len(trace.slices)
    return True


def check_child(content: bytes, directory: Path) -> bool:
    """As `check_reading`; the child says of the content what reading it here says, within half a GB."""
    path = directory / "input.trace"
    path.write_bytes(content)
    refusal, parsed = "", None
    try:
        parsed = parse_in_child(path, device="cuda:0", directory=directory, memory_limit=512 << 20)
    except TraceError as error:
        refusal = str(error)
    assert "ended with status" not in refusal, refusal
    assert check_reading(content, directory) == (parsed is not None), refusal
    assert parsed is None or parsed.summary == summarise(read_trace(path))
    return parsed is not None


def _check_finite(result: msgspec.Struct) -> None:
    """No infinity, no NaN, no half of a surrogate pair."""
    json.dumps(msgspec.to_builtins(result), allow_nan=False, ensure_ascii=False).encode()


def _check_summary(summary: TraceSummary) -> None:
    _check_ascending(0, summary.linked_kernels, summary.kernels, summary.records)
    _check_ascending(0, summary.distinct_kernel_names, summary.kernels)
    _check_ascending(0, summary.kernels_from_graph_launches, summary.kernels)
    _check_ascending(0, summary.kernel_busy_ns, summary.kernel_sum_ns)
    _check_ascending(0, summary.kernel_busy_ns, summary.gpu_busy_ns)
    for device in summary.devices:
        _check_ascending(0, device.kernel_busy_ns, device.gpu_busy_ns, device.gpu_span_ns, summary.gpu_span_ns)
        _check_ascending(0, device.idle_ns, device.gpu_span_ns)


def _check_contents(held: TraceContents, summary: TraceSummary) -> None:
    assert sum(kernel.calls for kernel in held.kernels) == (summary.kernels or 0)
    assert sum(kernel.total_ns for kernel in held.kernels) == (summary.kernel_sum_ns or 0)
    assert [step.work.kernels for step in held.steps] == [step.kernels for step in summary.steps[: len(held.steps)]]
    assert len({len(column) for column in (held.sequence, held.durations_ns, held.caller_of, held.instance_of)}) == 1
    for kernel in held.kernels:
        _check_ascending(0, kernel.min_ns, kernel.p50_ns, kernel.p95_ns, kernel.max_ns, kernel.total_ns)
        assert sum(kernel.per_step) <= kernel.calls == kernel.attribution.total
    for work in (held.whole, *(step.work for step in held.steps)):
        _check_ascending(0, work.overlapped_ns, work.communication_ns, work.busy_ns)
    assert max(held.caller_of, default=-1) < len(held.callers)
    assert max(held.instance_of, default=-1) < len(held.instances)


def _check_no_difference(found: TraceDifference) -> None:
    """Of a trace and itself."""
    assert {kernel.change for kernel in found.kernels} <= {Change.EQUAL}
    assert {count.difference for count in found.counts} <= {0, None}
    if found.matching is not None:
        assert found.matching.baseline == found.matching.candidate
        assert not found.matching.baseline.unmatched


def _check_ascending(*numbers: int | None) -> None:
    """Of those that are known."""
    known = [number for number in numbers if number is not None]
    assert known == sorted(known), numbers


def _check_timeline(drawn: Timeline, *, slices: int) -> None:
    columns = (drawn.track, drawn.name, drawn.start_ns, drawn.duration_ns, drawn.launch, drawn.stages)
    assert {len(column) for column in columns} == {slices}
    if slices:
        assert drawn.start_ns[0] == 0
        assert drawn.start_ns.min() >= 0
        assert drawn.duration_ns.min() >= 0
        assert drawn.track.max() < len(drawn.tracks)
        assert drawn.name.max() < len(drawn.names)
        assert drawn.stages.max() < len(drawn.stage_sets)
        assert -1 <= drawn.launch.min() <= drawn.launch.max() < slices
    assert len(set(drawn.short_names)) == len(drawn.names) == len(drawn.roles)


@contextmanager
def _in_time() -> Iterator[None]:
    """By processor time: a busy machine makes no hang."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise Hang(f"more than {LONGEST_S:g} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, LONGEST_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
