"""What the device does between blocks: it rests, as in a service that waits, or it is kept busy, as under full load."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import torch

from profiles.measure import nvml
from profiles.measure.device import synchronise
from profiles.measure.nvml import GpuState
from profiles.plan import Load

REST_S = 0.005  # a GPU that waits for a request; longer rests buy fewer builds
LOOK_EVERY_S = 0.5
SETTLED_LOOKS = 4  # two seconds alike
CLOCK_SHARE = 0.01
WARMING_C = 1
LONGEST_SETTLING_S = 10.0
CPU_SETTLING_S = 2.0  # a CPU tells nothing that could be waited for


def before_block(load: Load, call: Callable[[], object], device: torch.device, *, block_s: float) -> None:
    """Rest, or keep busy with untimed calls, for about 5 ms; less before blocks that are shorter than that."""
    seconds = min(REST_S, block_s)
    if load is Load.BURST:
        time.sleep(seconds)
    else:
        keep_busy(call, device, seconds=seconds)


def keep_busy(call: Callable[[], object], device: torch.device, *, seconds: float) -> None:
    """Call until the time is over; at least once."""
    end = time.monotonic() + seconds
    while True:
        call()
        synchronise(device)
        if time.monotonic() >= end:
            return


class Settling:
    """Before timing under full load: until clock and temperature have settled, ten seconds at the longest."""

    def __init__(self, device: torch.device) -> None:
        self._device, self._begun_s = device, time.monotonic()
        self._longest_s = LONGEST_SETTLING_S if device.type == "cuda" else CPU_SETTLING_S
        self._states: list[GpuState] = []

    @property
    def over(self) -> bool:
        return time.monotonic() - self._begun_s >= self._longest_s or settled(self._states)

    def keep_busy(self, call: Callable[[], object], *, share: int) -> None:
        """One of `share` candidates that take turns between two looks."""
        keep_busy(call, self._device, seconds=LOOK_EVERY_S / share)

    def look(self) -> None:
        self._states.append(nvml.gpu_state(self._device))


def settled(states: Sequence[GpuState]) -> bool:
    """Whether the last looks found about the same clock, and a temperature that rises no more."""
    last = states[-SETTLED_LOOKS:]
    clocks = [state.sm_clock_mhz for state in last if state.sm_clock_mhz is not None]
    temperatures = [state.temperature_c for state in last if state.temperature_c is not None]
    if len(clocks) < SETTLED_LOOKS or len(temperatures) < SETTLED_LOOKS:
        return False
    return max(clocks) - min(clocks) <= CLOCK_SHARE * max(clocks) and sum(_rises(temperatures)) <= WARMING_C


def _rises(temperatures: Sequence[int]) -> Iterator[int]:
    return (max(0, after - before) for before, after in pairwise(temperatures))
