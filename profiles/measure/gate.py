"""A gate on the stream: a spin kernel holds the device until the host has enqueued a whole call behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from profiles.measure.device import timing_event

CALIBRATION_CYCLES = 20_000_000


class Gate:
    """Made once per process, on the current device; needs `torch.cuda._sleep`, which is private: ask `available`.

    `window_ns` is what a window behind it holds beside the work in it, and is taken off each sample (`window.py`).
    """

    def __init__(self, window_ns: float = 0.0) -> None:
        self.window_ns = window_ns
        self._spin: Callable[[int], None] | None = getattr(torch.cuda, "_sleep", None)
        self._cycles_per_ns = self._calibrate() if self._spin is not None else 0.0

    @property
    def available(self) -> bool:
        return self._spin is not None

    def hold(self, duration_ns: float) -> None:
        """Keep what is enqueued from now on waiting for about this long."""
        if self._spin is not None:
            self._spin(int(duration_ns * self._cycles_per_ns))

    def _calibrate(self) -> float:
        """Clock cycles per ns, of the second try: the first one loads the kernel."""
        return [CALIBRATION_CYCLES / event_ns(lambda: self._spinning(CALIBRATION_CYCLES)) for _ in range(2)][-1]

    def _spinning(self, cycles: int) -> None:
        assert self._spin is not None
        self._spin(cycles)


def event_ns(work: Callable[[], Any]) -> float:
    """Time on the stream between an event before and one after, in ns; no gate."""
    start, end = timing_event(), timing_event()
    start.record()
    work()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) * 1e6
