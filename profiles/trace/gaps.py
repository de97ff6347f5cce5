"""When a device had nothing to do, and why: each gap between GPU slices has one cause, judged by the next launch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from profiles.recorded import GapCause, Idle
from profiles.trace.launches import Launches, calls_named
from profiles.trace.model import ABSENT, CALL_KINDS, Bools, Int64s, Trace
from profiles.trace.nesting import Nesting
from profiles.trace.on_tracks import OnTracks
from profiles.trace.steps import Step

# Calls that return when the device has done its work. Copies that are asynchronous by name are followed by a
# synchronisation of their own where the host waits for them; allocations also wait, and are not counted here.
_WAITS_FOR_DEVICE = re.compile(
    r"(cuda|cu|hip)(Device|Stream|Event|Ctx)Synchronize|(cuda|cu|hip)Mem(cpy|set)(?!\w*Async)|hipMemcpyWithStream"
)
_WAITS_FOR_EVENT = re.compile(r"(cuda|cu|hip)StreamWait(Event|Value)")
# A slice that is launched and depends on nothing begins within some µs of the one ahead: 25 µs is the longest in the
# recordings of five kinds of GPU that the reader is tested on.
_STARTS_WITHIN_NS = 50_000
_CAUSES = tuple(GapCause)


@dataclass(frozen=True, slots=True)
class Gaps:
    """In order of time; `before` are the rows of the slices that ended last, `after` of those that began next."""

    before: Int64s
    after: Int64s
    start_ns: Int64s
    duration_ns: Int64s


def find_gaps(trace: Trace, rows: Int64s) -> Gaps:
    """Between the GPU slices of one device, ordered by start: what their union leaves uncovered of their span."""
    start, end = trace.slices.start_ns[rows], trace.slices.ends_ns(rows)
    if len(rows) < 2:
        return Gaps(rows[:0], rows[:0], start[:0], start[:0])
    latest = np.maximum.accumulate(end)
    last = np.maximum.accumulate(np.where(end == latest, np.arange(len(rows)), 0))
    at = np.flatnonzero(start[1:] > latest[:-1])
    return Gaps(rows[last[at]], rows[at + 1], latest[at], start[at + 1] - latest[at])


class GapJudge:
    """Says why gaps are there. Holds what it needs to know of the recording's host: which calls waited, and where."""

    def __init__(self, trace: Trace, launches: Launches, steps: Sequence[Step]) -> None:
        self._slices = trace.slices
        self._call_of = launches.call_of
        calls = trace.slices.of(*CALL_KINDS)
        self._launching = OnTracks(trace.slices, launches.calls)
        self._syncs = OnTracks(trace.slices, calls_named(trace, calls, _WAITS_FOR_DEVICE))
        self._waiting = Nesting(trace.slices.track[self._syncs.rows], trace.slices.ends_ns(self._syncs.rows))
        self._waits = OnTracks(trace.slices, calls_named(trace, calls, _WAITS_FOR_EVENT))
        self._step_of = np.full(len(trace.slices), ABSENT, np.int64)
        self._has_steps = bool(steps)
        for number, step in enumerate(steps):
            self._step_of[step.slices] = number

    def causes(self, gaps: Gaps) -> Int64s:
        """For each gap the place of its cause in `GapCause`."""
        call = self._call_of[gaps.after]
        known = call != ABSENT
        launched_ns = self._slices.start_ns[call]
        late = launched_ns >= gaps.start_ns
        long = gaps.duration_ns > _STARTS_WITHIN_NS
        still_launching = long & (self._slices.ends_ns(call) >= gaps.start_ns)
        tests = {
            GapCause.NOT_KNOWN: ~known,
            GapCause.BETWEEN_STEPS: self._between_steps(gaps),
            GapCause.SYNCHRONISATION: late & self._while_waiting(call, gaps.start_ns),
            GapCause.HOST_LATE: late | still_launching,
            GapCause.DEPENDENCY: self._dependent(gaps, call),
            GapCause.UNEXPLAINED: long,
        }
        rest = _CAUSES.index(GapCause.BETWEEN_SLICES)
        return np.select(list(tests.values()), [_CAUSES.index(cause) for cause in tests], rest).astype(np.int64)

    def idle(self, gaps: Gaps) -> tuple[Idle, ...]:
        """By cause, the longest in all first."""
        causes = self.causes(gaps)
        found = []
        for place in np.unique(causes).tolist():
            durations = gaps.duration_ns[causes == place]
            total, longest = int(durations.sum()), int(durations.max())
            found.append(Idle(cause=_CAUSES[place], count=len(durations), total_ns=total, longest_ns=longest))
        return tuple(sorted(found, key=lambda idle: -idle.total_ns))

    def _between_steps(self, gaps: Gaps) -> Bools:
        """Where steps are marked: the two slices are not of one step."""
        before, after = self._step_of[gaps.before], self._step_of[gaps.after]
        between: Bools = (before != after) | (after == ABSENT)
        return between if self._has_steps else np.zeros(len(after), np.bool_)

    def _while_waiting(self, call: Int64s, idle_from_ns: Int64s) -> Bools:
        """The thread that launches next sat in a call that waits for the device when the device ran dry, or that
        returned at that very moment."""
        track = self._slices.track[call]
        begun = self._syncs.before(track, np.searchsorted(self._slices.start_ns, idle_from_ns, "right"))
        waiting: Bools = self._waiting.open_at(track=track, at_ns=idle_from_ns - 1, before=begun) != ABSENT
        return waiting

    def _dependent(self, gaps: Gaps, call: Int64s) -> Bools:
        """Work of another stream ended just before; or the launching thread told a stream to wait for an event since
        its launch before."""
        starts, track = self._slices.start_ns, self._slices.track[call]
        other_stream = self._slices.track[gaps.before] != self._slices.track[gaps.after]
        own = np.searchsorted(starts, starts[call])
        waited, previous = self._waits.last_before(track, own), self._launching.last_before(track, own)
        since = (waited != ABSENT) & ((previous == ABSENT) | (starts[waited] > starts[previous]))
        dependent: Bools = other_stream | (since & (self._call_of[gaps.before] != call))
        return dependent
