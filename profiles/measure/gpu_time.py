"""The device's own time of one call: CUDA events behind a gate, so that no wait for the host is inside."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import torch

from profiles.measure.device import timing_event
from profiles.measure.gate import Gate

SHORTEST_GATE_NS = 200_000.0
LONGEST_GATE_NS = 200_000_000.0
TRIES = 6
METHOD = "gated events"
TICK_NS = 32.0  # of the events' clock: no sample is less


class Sample(NamedTuple):
    """`late`: the gate had opened before the call was enqueued whole, and the sample is void."""

    duration_ns: float
    enqueue_ns: float
    late: bool


def _nothing() -> None:
    return None


class GatedTimer:
    """Takes samples of one variant. The gate grows until a call fits behind it, and stays as long for the next sample.

    A call that enqueues more than the longest gate (or the driver's queue) can hold is sampled behind that gate all
    the same, and `doubt` says so from then on: such samples may contain waits for the host. `late` counts the samples
    that were void and taken again.
    """

    def __init__(self, device: torch.device, gate: Gate) -> None:
        self._device, self._gate = device, gate
        self._gate_ns = SHORTEST_GATE_NS
        self._enqueue_ns = 0.0  # of the first late sample, whose gate was too short to hold the host up
        self.late = 0
        self.gave_up = not gate.available

    @property
    def window_ns(self) -> float | None:
        """What is taken off each sample; None where that is not known."""
        return self._gate.window_ns or None

    @property
    def doubt(self) -> str | None:
        """Why the samples may contain more than the device's own time; None where they do not."""
        if not self._gate.available:
            return "this torch has no spin kernel to hold the device: waits for the host are included"
        if self.gave_up:
            return (
                f"the host enqueues for {self._enqueue_ns / 1e6:,.1f} ms per call, more than the gate can hold: "
                "waits for the host may be included"
            )
        return None

    def sample(self, call: Callable[[], object], prepare: Callable[[], None] = _nothing) -> Sample:
        """Of one call; `prepare` enqueues what must precede it, outside the window. Contexts are the caller's."""
        if self.gave_up:
            return self._once(call, prepare)
        for _ in range(TRIES):
            sample = self._once(call, prepare)
            if not sample.late:
                return sample
            self.late += 1
            self._enqueue_ns = self._enqueue_ns or sample.enqueue_ns
            self._gate_ns = min(LONGEST_GATE_NS, max(2 * self._gate_ns, 1.5 * sample.enqueue_ns))
        # A full queue blocks the host until the gate opens: a longer gate holds no more than a call's own enqueueing.
        self.gave_up, self._gate_ns = True, min(LONGEST_GATE_NS, self._enqueue_ns)
        return sample

    def _once(self, call: Callable[[], object], prepare: Callable[[], None]) -> Sample:
        start, end = timing_event(), timing_event()
        torch.cuda.synchronize(self._device)
        prepare()
        self._gate.hold(self._gate_ns)
        start.record()
        enqueue_start = time.perf_counter_ns()
        output = call()
        enqueue_ns = time.perf_counter_ns() - enqueue_start
        end.record()
        late = bool(start.query())  # the gate is before `start`: it opened too early
        end.synchronize()
        del output  # not before: its memory may be handed out again
        window_ns = float(start.elapsed_time(end)) * 1e6
        return Sample(max(window_ns - self._gate.window_ns, TICK_NS), enqueue_ns, late)
