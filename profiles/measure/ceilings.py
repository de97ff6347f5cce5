"""What the device can do at most, measured in a process of its own: bandwidths, matmuls, exponentials, launches.

A part that cannot be measured here (too little memory, no compiler for the kernel) is left out, and so unknown.
"""

from __future__ import annotations

import math
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from profiles.ceilings import Bandwidth, Ceilings, MatmulRate
from profiles.devices import memory_bytes
from profiles.measure.cache_flush import CacheFlush, told_l2_bytes
from profiles.measure.ceiling_clocks import Clock, DeviceClock, HostClock
from profiles.measure.device import take_device
from profiles.measure.exponentials import exponential_rate
from profiles.measure.messages import Outbox
from profiles.operations.random_inputs import TORCH_DTYPES
from profiles.protocol import CeilingsMeasured
from profiles.workload import DType

MIB = 1 << 20
ROW = 1024  # elements; what is read is a whole number of MiB
LONGEST_S = 60
MOST_OF_MEMORY = 8  # a device gives at most an eighth of its memory
LONGEST_MATMUL_NS = 60e6


class _Effort(NamedTuple):
    """How much is tried on a kind of device: bytes touched in all, and sides of square matmuls."""

    sizes_mib: tuple[int, ...]
    half_sides: tuple[int, ...]
    single_sides: tuple[int, ...]


ON_CUDA = _Effort((1, 4, 16, 64, 256, 1024), (2048, 4096, 8192), (2048, 4096))
ON_CPU = _Effort((1, 4, 16, 64, 256), (256, 512, 1024), (256, 512, 1024))


def tell_ceilings(device: str, window_ns: float, outbox: Outbox) -> None:
    """A forked process's work. It ends itself where the device does not come back: nothing depends on it."""
    signal.alarm(LONGEST_S)
    outbox.send(CeilingsMeasured(ceilings=measure_ceilings(take_device(device), window_ns=window_ns)))


@torch.no_grad()
def measure_ceilings(device: torch.device, *, window_ns: float = 0.0) -> Ceilings:
    """Some 2 s on a GPU or two cores; clocks are as found. `window_ns` is taken off each sample, as off a run's."""
    on_gpu = device.type == "cuda"
    bench = _Bench(device, DeviceClock(device, window_ns) if on_gpu else HostClock(), ON_CUDA if on_gpu else ON_CPU)
    with _tolerated():
        bench.warm_up()
    bandwidths = tuple(_all_that_work(bench.bandwidths()))
    return Ceilings(
        bandwidths=bandwidths if on_gpu else undisturbed(bandwidths),
        matmuls=tuple(_all_that_work(bench.matmuls())),
        exp_per_s=_value(lambda: exponential_rate(device, bench.clock)),
        launch_ns=_value(bench.launch_ns) if on_gpu else None,
        l2_bytes=told_l2_bytes(device),
    )


def undisturbed(bandwidths: Sequence[Bandwidth]) -> tuple[Bandwidth, ...]:
    """A processor is at its fastest where its caches help: a size that is far slower than a larger one was measured
    while something else ran, and tells nothing."""

    def is_slower(one: Bandwidth, other: Bandwidth) -> bool:
        alike = one.read_share == other.read_share and one.size_bytes < other.size_bytes
        return alike and 2 * one.gb_per_s < other.gb_per_s

    return tuple(one for one in bandwidths if not any(is_slower(one, other) for other in bandwidths))


def _tolerated() -> suppress:
    """Out of memory, a kernel that this torch or device does not have: RuntimeErrors all."""
    return suppress(RuntimeError)


def _value(measure: Callable[[], float | None]) -> float | None:
    with _tolerated():
        return measure()
    return None


def _all_that_work(found: Iterator[Any]) -> Iterator[Any]:
    with _tolerated():
        yield from found


@dataclass(frozen=True, slots=True)
class _Bench:
    device: torch.device
    clock: Clock
    effort: _Effort

    def warm_up(self) -> None:
        """Clocks rise and libraries load before anything counts."""
        square = torch.randn(1024, 1024, device=self.device)
        for _ in range(10):
            square = torch.mm(square, square) / 32

    def bandwidths(self) -> Iterator[Bandwidth]:
        """Each size and mix with the caches as the call before left them, and on a GPU with nothing in them too."""
        sizes = [size * MIB for size in self.effort.sizes_mib if size * MIB <= _memory(self.device) // MOST_OF_MEMORY]
        buffer = torch.randn(sizes[-1] // 4, device=self.device)
        flush = CacheFlush(self.device) if self.device.type == "cuda" else None
        for size in sizes:
            for share, kernels in _mixes(buffer[: size // 4]):
                for before in (None, flush) if flush is not None else (None,):
                    ns = min(self.clock.call_ns(kernel, before=before) for kernel in kernels)
                    yield Bandwidth(
                        size_bytes=size, read_share=share, gb_per_s=_rounded(size / ns), cold=before is not None
                    )

    def matmuls(self) -> Iterator[MatmulRate]:
        set_to = torch.get_float32_matmul_precision()
        for dtype in (DType.BF16, DType.FP16):
            yield from self._best_matmul(dtype, self.effort.half_sides)
        with _fp32_precision("highest"):
            yield from self._best_matmul(DType.FP32, self.effort.single_sides)
        if set_to != "highest" and self.device.type == "cuda":
            with _fp32_precision(set_to):
                yield from self._best_matmul(DType.FP32, self.effort.single_sides, tf32=True)

    def _best_matmul(self, dtype: DType, sides: Sequence[int], *, tf32: bool = False) -> Iterator[MatmulRate]:
        """Larger ones as long as one call stays short; nothing where the device has no such matmul."""
        rates: list[MatmulRate] = []
        with _tolerated():
            for side in sides:
                ns = self._matmul_ns(TORCH_DTYPES[dtype], side)
                rate = _rounded(2 * side**3 / ns / 1e3)
                rates.append(MatmulRate(dtype=dtype, size=side, tflop_per_s=rate, tf32=tf32))
                if 8 * ns > LONGEST_MATMUL_NS:
                    break
        if rates:
            yield max(rates, key=lambda rate: rate.tflop_per_s)

    def _matmul_ns(self, dtype: torch.dtype, side: int) -> float:
        left, right = (torch.randn(side, side, device=self.device).to(dtype) for _ in range(2))
        return self.clock.call_ns(partial(torch.mm, left, right, out=torch.empty_like(left)))

    def launch_ns(self) -> float:
        """Of an empty kernel among many on one stream; where torch has none, of one that fills one element."""
        spin: Callable[[int], None] | None = getattr(torch.cuda, "_sleep", None)
        one = torch.zeros(1, device=self.device)
        return _rounded(self.clock.call_ns(partial(spin, 0) if spin else partial(one.fill_, 1.0), calls=200))


def _mixes(buffer: Tensor) -> Iterator[tuple[float, tuple[Callable[[], object], ...]]]:
    """(share that is read, kernels that each touch the whole buffer once: the fastest counts).

    A sum of everything ends in blocks that wait for each other, one of rows does not.
    """
    total, rows = torch.zeros((), device=buffer.device), buffer.view(-1, ROW)
    totals = torch.zeros(len(rows), device=buffer.device)
    yield 1.0, (partial(torch.sum, buffer, dim=0, out=total), partial(torch.sum, rows, dim=1, out=totals))
    third = buffer.numel() // 3 // 128 * 128
    a, b, c = (buffer[part * third : (part + 1) * third] for part in range(3))
    yield 0.667, (partial(torch.add, a, b, out=c),)
    source, target = buffer.chunk(2)
    yield 0.5, (partial(torch.neg, source, out=target),)
    yield 0.0, (partial(buffer.fill_, 1.0),)


def _memory(device: torch.device) -> int:
    if device.type == "cuda":
        return int(torch.cuda.get_device_properties(device).total_memory)
    return memory_bytes()


@contextmanager
def _fp32_precision(name: str) -> Iterator[None]:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(name)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def _rounded(value: float) -> float:
    """Four digits: no more is told by a few samples."""
    return float(f"{value:.4g}") if math.isfinite(value) else 0.0
