"""How long one call takes at best: by events behind a gate on a GPU, by the wall clock on a CPU."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Protocol

import torch

from profiles.measure.device import timing_event
from profiles.measure.gate import Gate
from profiles.measure.gpu_time import TICK_NS

SAMPLES = 5
GATE_NS = 200_000.0
ENQUEUE_NS = 15_000.0  # of one plain kernel from Python, amply
TRIES = 4
SHORTEST_BLOCK_NS = 1_000_000
ENOUGH_NS = 10_000_000
MOST_CALLS = 1_000

Work = Callable[[], object]


class Clock(Protocol):
    def call_ns(self, work: Work, *, calls: int | None = None, before: Work | None = None) -> float:
        """Per call, of several samples of `calls` calls each; `before` goes ahead of each, untimed."""
        ...


class DeviceClock:
    """The median on the device's own clock, one call a sample unless told otherwise: as a run's `gpu_time` is taken."""

    def __init__(self, device: torch.device, window_ns: float = 0.0) -> None:
        self._device, self._gate = device, Gate(window_ns)

    def call_ns(self, work: Work, *, calls: int | None = None, before: Work | None = None) -> float:
        work()
        return statistics.median(self._sample(work, calls or 1, before) for _ in range(SAMPLES))

    def _sample(self, work: Work, calls: int, before: Work | None) -> float:
        """A gate that opened before all was enqueued would let waits for the host in: once more behind a longer one."""
        gate_ns, ns = GATE_NS + calls * ENQUEUE_NS, 0.0
        for _ in range(TRIES):
            ns, late = self._once(work, calls, before, gate_ns)
            if not late:
                break
            gate_ns *= 3
        return ns / calls

    def _once(self, work: Work, calls: int, before: Work | None, gate_ns: float) -> tuple[float, bool]:
        start, end = timing_event(), timing_event()
        torch.cuda.synchronize(self._device)
        if before is not None:
            before()
        self._gate.hold(gate_ns)
        start.record()
        for _ in range(calls):
            work()
        end.record()
        late = self._gate.available and bool(start.query())
        end.synchronize()
        return max(float(start.elapsed_time(end)) * 1e6 - self._gate.window_ns, TICK_NS), late


class HostClock:
    """The shortest: what else a processor does can only lengthen a sample. Short calls are repeated until a block is
    long enough for the clock.

    Tried with all of torch's threads and with one: where other work takes a core, threads wait for each other for
    milliseconds, and one alone is faster.
    """

    def call_ns(self, work: Work, *, calls: int | None = None, before: Work | None = None) -> float:
        threads = torch.get_num_threads()
        together = self._shortest(work, calls, before)
        if threads == 1:
            return together
        torch.set_num_threads(1)
        try:
            return min(together, self._shortest(work, calls, before))
        finally:
            torch.set_num_threads(threads)

    def _shortest(self, work: Work, calls: int | None, before: Work | None) -> float:
        once_ns = max(1, min(self._block_ns(work, 1, before) for _ in range(2)))
        enough = calls or max(1, min(MOST_CALLS, SHORTEST_BLOCK_NS // once_ns))
        blocks: list[int] = []
        while len(blocks) < SAMPLES or sum(blocks) < ENOUGH_NS:
            blocks.append(self._block_ns(work, enough, before))
        return min(blocks) / enough

    def _block_ns(self, work: Work, calls: int, before: Work | None) -> int:
        if before is not None:
            before()
        start = time.perf_counter_ns()
        for _ in range(calls):
            work()
        return time.perf_counter_ns() - start
