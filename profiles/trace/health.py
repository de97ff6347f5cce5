"""What is missing or impossible in a trace, and which numbers that makes doubtful."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from profiles.recorded import GapCause, Idle
from profiles.results import Finding
from profiles.trace.doubts import IDLE, LEFT_OUT, PER_STEP, TIMES
from profiles.trace.intervals import Overlap
from profiles.trace.launches import CallKind, Launches
from profiles.trace.model import ABSENT, CALL_KINDS, GPU_KINDS, PROCESS_SHIFT, Int64s, SliceKind, Trace
from profiles.trace.steps import Step, count_slices
from profiles.trace.wording import counted

_YEAR_2100_NS = 4_102_444_800 * 10**9
_LONG_LAG_NS = 60 * 10**9  # a stream takes about a thousand launches ahead: a minute of work is more than that


@dataclass(frozen=True, slots=True)
class Unlinked:
    """GPU slices whose launching call is not in the file: `earlier` ones were launched before the recording began,
    of the `lost` ones nothing is known."""

    earlier: Int64s
    lost: Int64s


def find_unlinked(trace: Trace, launches: Launches) -> Unlinked:
    """Calls are numbered in order, and a stream works in order: what is from before the recording has a lower
    correlation than every recorded call of its process, and ran before every slice of its stream whose call was
    recorded."""
    slices = trace.slices
    gpu = slices.of(*GPU_KINDS)
    unlinked = gpu[launches.call_of[gpu] == ABSENT]
    calls = slices.correlation[slices.of(*CALL_KINDS)]
    calls = calls[calls != ABSENT]
    if len(calls) == 0:
        return Unlinked(earlier=unlinked[:0], lost=unlinked)
    first_linked_ns = np.full(len(trace.tracks), np.iinfo(np.int64).max)
    linked = gpu[launches.call_of[gpu] != ABSENT]
    np.minimum.at(first_linked_ns, slices.track[linked], slices.start_ns[linked])
    correlation = slices.correlation[unlinked]
    earlier = (correlation != ABSENT) & (correlation < _first_call(calls, correlation >> PROCESS_SHIFT))
    earlier &= slices.start_ns[unlinked] <= first_linked_ns[slices.track[unlinked]]
    return Unlinked(earlier=unlinked[earlier], lost=unlinked[~earlier])


def _first_call(calls: Int64s, process: Int64s) -> Int64s:
    """The lowest correlation of the calls of each process, of a process without any lower than all there are."""
    processes, of_call = np.unique(calls >> PROCESS_SHIFT, return_inverse=True)
    lowest = np.full(len(processes), np.iinfo(np.int64).max)
    np.minimum.at(lowest, of_call, calls)
    at = np.minimum(np.searchsorted(processes, process), len(processes) - 1)
    return np.where(processes[at] == process, lowest[at], np.iinfo(np.int64).min)


def kernels_in(step: Step, trace: Trace, launches: Launches, unlinked: Unlinked) -> int | None:
    """The kernels launched within a step; None where that cannot be told."""
    untold = step.barren or len(unlinked.lost) or launches.reused or not _recorded_gpu(trace, launches)
    untold = untold or SliceKind.KERNEL in trace.absent
    return None if untold else count_slices(step, trace, SliceKind.KERNEL)


def find_problems(trace: Trace, launches: Launches, steps: tuple[Step, ...], unlinked: Unlinked) -> tuple[Finding, ...]:
    """The reader's findings, then those that the slices tell."""
    return (
        *trace.findings,
        *_missing_records(trace, launches, steps),
        *_lost_launches(trace, unlinked),
        *_spill_over(trace, unlinked),
        *_reused_correlations(launches),
        *_unstable(trace, launches, steps, unlinked),
        *_lags(trace, launches),
        *_unit(trace),
        *_other_accelerator(trace),
    )


def find_unexplained(idle: Iterable[Idle]) -> Iterator[Finding]:
    """Idle time that no launch, wait or synchronisation explains."""
    for gaps in idle:
        if gaps.cause is GapCause.UNEXPLAINED:
            yield Finding(
                code="unexplained_gaps",
                message=f"{counted(gaps.count, 'gap')} between GPU slices ({gaps.total_ns / 1e6:,.1f} ms in all) that"
                " nothing recorded explains: records of the GPU may be missing",
                count=gaps.count,
                doubtful=("kernels", *TIMES, *IDLE),
            )


def find_overlap(overlaps: Iterable[Overlap]) -> Iterator[Finding]:
    """For information: such slices are no mistake, but a sum of durations is then longer than the time that passed."""
    found = [overlap for overlap in overlaps if overlap.slices]
    if found:
        count, time_ns = sum(each.slices for each in found), sum(each.time_ns for each in found)
        yield Finding(
            code="stream_overlap",
            message=f"{counted(count, 'GPU slice')} began before the one ahead on the same stream had ended"
            f" ({time_ns / 1000:,.1f} µs in all: programmatic launches, branches of a graph, or rounded times);"
            " sums count that time twice, busy times once",
            count=count,
        )


def _recorded_gpu(trace: Trace, launches: Launches) -> bool:
    return len(launches.calls) > 0 or _has_gpu_slices(trace)


@lru_cache(maxsize=1)  # asked for every step of the trace at hand
def _has_gpu_slices(trace: Trace) -> bool:
    return len(trace.slices.of(*GPU_KINDS)) > 0


def _missing_records(trace: Trace, launches: Launches, steps: tuple[Step, ...]) -> Iterator[Finding]:
    barren = len(launches.barren)
    if barren and not len(trace.slices.of(*GPU_KINDS)):
        yield Finding(
            code="gpu_records_missing",
            message=f"{counted(barren, 'launch', 'launches')}, but no GPU records at all: the GPU's part was lost",
            count=barren,
            doubtful=LEFT_OUT,
        )
    elif barren:
        kernel_launches = int((launches.kinds[launches.barren] == CallKind.KERNEL).sum())
        within = sum(step.barren for step in steps)
        yield Finding(
            code="launches_without_slices",
            message=f"{counted(barren, 'launch', 'launches')} ({barren - kernel_launches:,} of graphs) without a slice,"
            f" {within:,} of them within steps{_at_the_end(trace, launches)}",
            count=barren,
            doubtful=LEFT_OUT,
        )
    elif steps and not _recorded_gpu(trace, launches):
        yield Finding(
            code="no_gpu_activity",
            message="neither launches nor GPU slices: recorded on a CPU, or without the GPU's activities",
            count=1,
            doubtful=PER_STEP,
        )


def _at_the_end(trace: Trace, launches: Launches) -> str:
    """A recording that stops while work is queued lacks the slices of its last launches."""
    starts = trace.slices.start_ns[launches.calls]
    last = starts[launches.slices > 0].max(initial=np.iinfo(np.int64).min)
    late = int((starts[launches.barren] > last).sum())
    return (
        f"; {late:,} after the last one that has its own: perhaps the recording ended before they ran" if late else ""
    )


def _lost_launches(trace: Trace, unlinked: Unlinked) -> Iterator[Finding]:
    lost = len(unlinked.lost)
    if lost:
        kernels = _kernels(trace, unlinked.lost)
        yield Finding(
            code="slices_without_launches",
            message=f"{counted(lost, 'GPU slice')} ({kernels:,} of kernels) without a launch in the file: they"
            " belong to no step",
            count=lost,
            doubtful=(*PER_STEP, "launches", "launched_before_window"),
        )


def _spill_over(trace: Trace, unlinked: Unlinked) -> Iterator[Finding]:
    earlier = len(unlinked.earlier)
    if earlier:
        kernels = _kernels(trace, unlinked.earlier)
        yield Finding(
            code="launched_before_window",
            message=f"{counted(earlier, 'GPU slice')} ({kernels:,} of kernels) launched before the recording began:"
            " in the file's totals and in no step",
            count=earlier,
            doubtful=("kernels", *TIMES),
        )


def _reused_correlations(launches: Launches) -> Iterator[Finding]:
    if launches.reused:
        yield Finding(
            code="correlations_reused",
            message=f"{counted(launches.reused, 'launch', 'launches')} with the correlation of another one (several"
            " processes in one file?): their slices cannot be told apart",
            count=launches.reused,
            doubtful=(*PER_STEP, "linked_kernels", "kernels_from_graph_launches"),
        )


def _unstable(trace: Trace, launches: Launches, steps: tuple[Step, ...], unlinked: Unlinked) -> Iterator[Finding]:
    counts = [kernels_in(step, trace, launches, unlinked) for step in steps]
    told = [count for count in counts if count is not None]
    if len(set(told)) > 1:
        shown = ", ".join(f"{count:,}" for count in told[:12]) + (", …" if len(told) > 12 else "")
        yield Finding(
            code="unstable_counts",
            message=f"the steps launched different numbers of kernels: {shown}",
            count=len(set(told)),
            doubtful=("counts.kernels", "steps.kernels"),
        )


def _lags(trace: Trace, launches: Launches) -> Iterator[Finding]:
    slices = trace.slices
    linked = np.flatnonzero(launches.call_of != ABSENT)
    lag_ns = slices.start_ns[linked] - slices.start_ns[launches.call_of[linked]]
    early, late = int((lag_ns < 0).sum()), int((lag_ns > _LONG_LAG_NS).sum())
    if early:
        yield Finding(
            code="slices_before_launches",
            message=f"{counted(early, 'GPU slice')} beginning before the call that launched them, by up to"
            f" {-int(lag_ns.min()) / 1000:,.1f} µs: the clocks of host and GPU have drifted apart",
            count=early,
            doubtful=("timeline", *IDLE),
        )
    if late:
        yield Finding(
            code="slices_long_after_launches",
            message=f"{counted(late, 'GPU slice')} beginning more than a minute after the call that launched them, by"
            f" up to {int(lag_ns.max()) / 1e9:,.0f} s: the clocks of host and GPU differ, or the unit is another",
            count=late,
            doubtful=("timeline", "gpu_span_ns", *IDLE),
        )


def _unit(trace: Trace) -> Iterator[Finding]:
    starts = trace.slices.start_ns
    if trace.unit == "us" and len(starts) and trace.epoch_ns + int(starts[0]) > _YEAR_2100_NS:
        span_us = (int(trace.slices.end_ns.max()) - int(starts[0])) // 1000
        yield Finding(
            code="suspicious_unit",
            message="timestamps are read as µs, as the format says, which puts the recording after the year 2100"
            f" and makes it {span_us:,} µs long: they may have been written in ns",
            count=1,
            doubtful=(*TIMES, "gpu_span_ns", "timeline", *IDLE),
        )


def _other_accelerator(trace: Trace) -> Iterator[Finding]:
    if trace.other_accelerator:
        yield Finding(
            code="other_accelerator",
            message=f"the records of {trace.other_accelerator} hardware are no GPU kernels and are not counted",
            count=1,
            doubtful=("kernels", "launches", *PER_STEP),
        )


def _kernels(trace: Trace, rows: Int64s) -> int:
    return int((trace.slices.kind[rows] == SliceKind.KERNEL).sum())
