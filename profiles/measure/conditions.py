"""The device as found between blocks of samples, looked at now and then and outside every timed window."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import torch

from profiles.measure import nvml
from profiles.measure.nvml import GpuState
from profiles.results import Block

LOOK_EVERY_S = 0.5  # of one candidate: NVML's answers take about a millisecond together


@dataclass(slots=True)
class Observer:
    """Looks once in each of a candidate's builds, and again after half a second. A CPU tells the time alone."""

    blocks: list[Block] = field(default_factory=list)
    state: GpuState = field(default_factory=GpuState)
    _looked: float = 0.0

    def after_block(self, device: torch.device, *, build: int, at_s: float) -> None:
        new = not self.blocks or self.blocks[-1].build != build
        if not new and (device.type != "cuda" or time.monotonic() - self._looked < LOOK_EVERY_S):
            return
        self._looked = time.monotonic()
        self.state = nvml.gpu_state(device)
        self.blocks.append(
            Block(
                build=build,
                at_s=round(at_s, 3),
                sm_clock_mhz=self.state.sm_clock_mhz,
                memory_clock_mhz=self.state.memory_clock_mhz,
                temperature_c=self.state.temperature_c,
                power_w=self.state.power_w,
                throttle=self.state.throttle,
            )
        )
