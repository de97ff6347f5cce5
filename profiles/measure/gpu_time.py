"""The device's own time of one call: CUDA events behind a gate, so that no wait for the host is inside."""

from __future__ import annotations

import time

import torch

from profiles.measure.cache_flush import CacheFlush
from profiles.measure.gate import Gate
from profiles.measure.subject import Subject

SHORTEST_GATE_NS = 200_000.0
LONGEST_GATE_NS = 200_000_000.0
TRIES = 6


class GatedTimer:
    """Takes samples of one subject. The gate grows until a call fits behind it, and stays as long for the next sample.

    A call that enqueues more than the longest gate (or the driver's queue) can hold is sampled behind that gate all
    the same, and `doubt` says so from then on: such samples may contain waits for the host.
    """

    def __init__(self, subject: Subject, device: torch.device, gate: Gate, flush: CacheFlush | None) -> None:
        self._subject, self._gate, self._flush = subject, gate, flush
        self._device = device
        self._gate_ns = SHORTEST_GATE_NS
        self._enqueue_ns = 0
        self.late = 0
        self.gave_up = False

    @property
    def doubt(self) -> str | None:
        if not self._gate.available:
            return "this torch has no spin kernel to hold the device: waits for the host are included"
        if self.gave_up:
            return (
                f"one call enqueues for {self._enqueue_ns / 1e6:,.1f} ms, more than the gate can hold: "
                "waits for the host may be included"
            )
        return None

    def sample(self) -> float:
        """ns of one call; the subject's context is entered by the caller."""
        for _ in range(1 if self.gave_up or not self._gate.available else TRIES):
            duration_ns, late = self._once()
            if not late:
                return duration_ns
            self.late += 1
            self._gate_ns = min(LONGEST_GATE_NS, max(2 * self._gate_ns, 1.5 * self._enqueue_ns))
        self.gave_up = True
        return duration_ns

    def _once(self) -> tuple[float, bool]:
        """(duration, whether the gate had ended before the call was enqueued whole: then the sample is void)."""
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize(self._device)
        if self._flush is not None:
            self._flush()
        self._gate.hold(self._gate_ns)
        start.record()
        enqueue_start = time.perf_counter_ns()
        output = self._subject.call()
        self._enqueue_ns = time.perf_counter_ns() - enqueue_start
        end.record()
        late = start.query()
        end.synchronize()
        del output  # not before: its memory may be handed out again
        return float(start.elapsed_time(end)) * 1e6, late
