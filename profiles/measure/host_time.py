"""What the host spends on enqueueing one call, as a model that makes many: while a gate holds the device."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice

import torch

from profiles.measure.device import synchronise, timing_event
from profiles.measure.gate import Gate
from profiles.measure.gpu_time import SHORTEST_GATE_NS
from profiles.measure.subject import Subject

CALLS = 5
ROOM = 1.5  # of the gate, above what enqueueing may take


class HostTimer:
    """Takes samples of one variant: several calls behind one gate, one more before them that is not counted.

    After a wait for the device the host's caches are cold, which can double what the first call costs. Fewer calls are
    taken from then on where so many did not fit behind the gate: the driver's queue holds some 1,000 launches.
    """

    def __init__(self, device: torch.device, gate: Gate) -> None:
        self._device, self._gate, self._calls = device, gate, CALLS

    def sample(self, in_turn: Iterator[Subject], *, longest_ns: float) -> float | None:
        """ns per call; None where not even two fit. `longest_ns` is what enqueueing one takes at the most."""
        while self._calls > 1:
            if (ns := self._once(in_turn, longest_ns)) is not None:
                return ns
            self._calls //= 2
        return None

    def _once(self, in_turn: Iterator[Subject], longest_ns: float) -> float | None:
        opened = timing_event()
        synchronise(self._device)
        self._gate.hold(SHORTEST_GATE_NS + ROOM * (1 + self._calls) * longest_ns)
        opened.record()
        next(in_turn).call()
        start = time.perf_counter_ns()
        for subject in islice(in_turn, self._calls):
            subject.call()
        spent_ns = time.perf_counter_ns() - start
        late = bool(opened.query())
        synchronise(self._device)
        return None if late else spent_ns / self._calls
