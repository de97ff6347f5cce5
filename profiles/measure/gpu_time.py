"""The device's own time of one call: CUDA events behind a gate, so that no wait for the host is inside."""

from __future__ import annotations

import time
from typing import NamedTuple

import torch

from profiles.measure.cache_flush import CacheFlush
from profiles.measure.device import timing_event
from profiles.measure.gate import Gate
from profiles.measure.subject import Subject

SHORTEST_GATE_NS = 200_000.0
LONGEST_GATE_NS = 200_000_000.0
TRIES = 6


class _Sample(NamedTuple):
    """`late`: the gate had opened before the call was enqueued whole, and the sample is void."""

    duration_ns: float
    enqueue_ns: float
    late: bool


class GatedTimer:
    """Takes samples of one subject. The gate grows until a call fits behind it, and stays as long for the next sample.

    A call that enqueues more than the longest gate (or the driver's queue) can hold is sampled behind that gate all
    the same, and `doubt` says so from then on: such samples may contain waits for the host.
    """

    def __init__(self, subject: Subject, device: torch.device, gate: Gate, flush: CacheFlush | None) -> None:
        self._subject, self._gate, self._flush = subject, gate, flush
        self._device = device
        self._gate_ns = SHORTEST_GATE_NS
        self._enqueue_ns = 0.0  # of the first late sample, whose gate was too short to hold the host up
        self._gave_up = False

    @property
    def doubt(self) -> str | None:
        """Why the samples may contain more than the device's own time; None where they do not."""
        if not self._gate.available:
            return "this torch has no spin kernel to hold the device: waits for the host are included"
        if self._gave_up:
            return (
                f"the host enqueues for {self._enqueue_ns / 1e6:,.1f} ms per call, more than the gate can hold: "
                "waits for the host may be included"
            )
        return None

    def sample(self) -> float:
        """ns of one call; the subject's context is entered by the caller."""
        if self._gave_up or not self._gate.available:
            return self._once().duration_ns
        for _ in range(TRIES):
            sample = self._once()
            if not sample.late:
                return sample.duration_ns
            self._enqueue_ns = self._enqueue_ns or sample.enqueue_ns
            self._gate_ns = min(LONGEST_GATE_NS, max(2 * self._gate_ns, 1.5 * sample.enqueue_ns))
        # A full queue blocks the host until the gate opens: a longer gate holds no more than a call's own enqueueing.
        self._gave_up, self._gate_ns = True, min(LONGEST_GATE_NS, self._enqueue_ns)
        return sample.duration_ns

    def _once(self) -> _Sample:
        start, end = timing_event(), timing_event()
        torch.cuda.synchronize(self._device)
        if self._flush is not None:
            self._flush()
        self._gate.hold(self._gate_ns)
        start.record()
        enqueue_start = time.perf_counter_ns()
        output = self._subject.call()
        enqueue_ns = time.perf_counter_ns() - enqueue_start
        end.record()
        late = bool(start.query())  # the gate is before `start`: it opened too early
        end.synchronize()
        del output  # not before: its memory may be handed out again
        return _Sample(float(start.elapsed_time(end)) * 1e6, enqueue_ns, late)
