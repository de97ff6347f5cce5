"""Energy of a call, in joules: a counter read before and after a long loop, also without what the idle device draws.

On a GPU it is the whole board's (NVML), on a CPU the processor package's (RAPL), where the system lets us read it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import torch

from profiles.measure import nvml
from profiles.measure.device import synchronise
from profiles.measure.subject import Subject

LOOP_S = 5.0
IDLE_S = 3.0
PIECE_S = 0.1  # between looks at power and clock, with a synchronisation
RAPL = Path("/sys/class/powercap/intel-rapl:0")


class Meter(NamedTuple):
    """`read_j()` gives joules since some moment; `name` says by what."""

    name: str
    read_j: Callable[[], float]


class Energy(NamedTuple):
    """Per call, in joules. `net_j` leaves out what the idle device would have drawn in that time."""

    gross_j: float
    net_j: float
    calls: int
    method: str


def meter(device: torch.device) -> Meter | None:
    """The best one that there is; None where nothing tells."""
    if device.type == "cuda":
        if nvml.energy_mj(device) is not None:
            return Meter("NVML energy counter", lambda: (nvml.energy_mj(device) or 0) / 1e3)
        if nvml.power_w(device) is not None:
            return Meter("NVML power samples", PowerSum(lambda: nvml.power_w(device) or 0.0, time.monotonic))
        return None
    counter = RaplCounter(RAPL)
    return Meter("RAPL package 0", counter) if counter.readable else None


def idle_power_w(found: Meter, device: torch.device, *, seconds: float = IDLE_S) -> float:
    synchronise(device)
    start, before = time.monotonic(), found.read_j()
    while time.monotonic() - start < seconds:
        time.sleep(min(PIECE_S, seconds))
        found.read_j()
    return (found.read_j() - before) / (time.monotonic() - start)


def measure_energy(
    in_turn: Iterator[Subject],
    device: torch.device,
    found: Meter,
    *,
    idle_w: float,
    seconds_per_call: float,
    seconds: float = LOOP_S,
) -> Energy:
    """Calls back to back for `seconds` at least; the counter's own steps (up to 0.1 s) are small beside that."""
    piece = max(1, int(PIECE_S / seconds_per_call))
    synchronise(device)
    start, before, calls = time.monotonic(), found.read_j(), 0
    while time.monotonic() - start < seconds:
        for subject in islice(in_turn, piece):
            subject.call()
        synchronise(device)
        calls += piece
        found.read_j()
    gross, spent_s = found.read_j() - before, time.monotonic() - start
    return Energy(gross / calls, (gross - idle_w * spent_s) / calls, calls, found.name)


class PowerSum:
    """Energy from power read now and then, each reading with the one before it as a trapezium."""

    def __init__(self, power_w: Callable[[], float], clock: Callable[[], float]) -> None:
        self._power_w, self._clock = power_w, clock
        self._at, self._power, self._joules = clock(), power_w(), 0.0

    def __call__(self) -> float:
        now, power = self._clock(), self._power_w()
        self._joules += (power + self._power) / 2 * (now - self._at)
        self._at, self._power = now, power
        return self._joules


class RaplCounter:
    """Intel's and AMD's package counter in µJ, which begins again at `max_energy_range_uj`; often for root alone."""

    def __init__(self, directory: Path) -> None:
        self._counter, self._range = directory / "energy_uj", directory / "max_energy_range_uj"
        self._last, self._wrapped_uj = 0, 0

    @property
    def readable(self) -> bool:
        try:
            self()
        except (OSError, ValueError):
            return False
        return True

    def __call__(self) -> float:
        now = int(self._counter.read_text())
        if now < self._last:
            self._wrapped_uj += int(self._range.read_text())
        self._last = now
        return (now + self._wrapped_uj) / 1e6
