"""Functions of a known length, to be measured as if they were variants."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

CUDA_US = (10, 30, 100, 1000)
CPU_US = (100, 1000)
TRIES = 5
ROUNDS = 6
MOST_ELEMENTS = (1 << 29) - 1


@dataclass(frozen=True, slots=True)
class Work:
    """`function(inputs)` takes about `nominal_us`; `inputs(seed)` makes what it reads."""

    name: str
    nominal_us: float
    function: Callable[[Tensor], Tensor]
    inputs: Callable[[int], Tensor]


def elementwise(device: torch.device) -> list[Work]:
    """A kernel that reads and writes memory at each of several lengths, and a function of two kernels."""
    lengths = CUDA_US if device.type == "cuda" else CPU_US
    works = [_elementwise(f"{us} µs", us, _scaled, device) for us in lengths]
    return [*works, _elementwise("two kernels", lengths[1], _scaled_twice, device)]


def copying(device: torch.device, us: float) -> Work:
    """One kernel that reads and writes memory."""
    return _elementwise(f"{us:g} µs of memory", us, _scaled, device)


def spin(device: torch.device, us: float, *, extra: float = 0.0) -> Work:
    """One kernel that spins for a number of clock cycles, `extra` of them added (0.02: 2 % more).

    On a CPU a loop over so many more elements.
    """
    if device.type != "cuda":
        elements = round(_elements_for(us * 1e-6, _scaled, device) * (1 + extra))
        return Work(f"{us:g} µs +{extra:.0%}", us, _scaled, lambda seed: _random(elements, device, seed))
    sleep: Any = torch.cuda._sleep
    cycles = round(us * cycles_per_us(str(device)) * (1 + extra))

    def function(x: Tensor) -> Tensor:
        sleep(cycles)
        return x

    return Work(f"{us:g} µs of spinning, +{extra:.0%}", us, function, lambda seed: _random(1024, device, seed))


def _scaled(x: Tensor) -> Tensor:
    return x * 1.0001


def _scaled_twice(x: Tensor) -> Tensor:
    return x * 1.0001 + 1.0


def _elementwise(name: str, us: float, function: Callable[[Tensor], Tensor], device: torch.device) -> Work:
    elements = _elements_for(us * 1e-6, function, device)
    return Work(name, us, function, lambda seed: _random(elements, device, seed))


def _random(elements: int, device: torch.device, seed: int) -> Tensor:
    generator = torch.Generator(device).manual_seed(seed)
    return torch.randn(elements, generator=generator, device=device)


def _elements_for(seconds: float, function: Callable[[Tensor], Tensor], device: torch.device) -> int:
    """By trying: a call's time is nearly proportional to what it touches. No more than one kernel can index."""
    elements = 1 << 16
    for _ in range(TRIES):
        took = _seconds(function, _random(elements, device, 0), device)
        elements = max(1024, min(MOST_ELEMENTS, round(elements * seconds / took)))
    return elements


def _seconds(function: Callable[[Tensor], Tensor], x: Tensor, device: torch.device) -> float:
    if device.type == "cuda":
        from profiles.measure.gpu_time import GatedTimer  # noqa: PLC0415 - CUDA alone

        timer = GatedTimer(device, gate(str(device)))
        return statistics.median(timer.sample(lambda: function(x)).duration_ns for _ in range(ROUNDS)) / 1e9
    import time  # noqa: PLC0415

    def once() -> float:
        start = time.perf_counter()
        function(x)
        return time.perf_counter() - start

    return min(once() for _ in range(ROUNDS))


def cycles_per_us(device: str) -> float:
    """The benchmark needs the gate's own calibration."""
    return float(gate(device)._cycles_per_ns) * 1e3


@cache
def gate(device: str) -> Any:
    from profiles.measure.gate import Gate  # noqa: PLC0415 - CUDA alone

    torch.cuda.set_device(device)
    return Gate()
