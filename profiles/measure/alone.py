"""Checks and times one function by itself: the part of every reproducer that is no operation.

Reproducers carry this source text (`profiles.reproduce`), so nothing here imports anything of ours. The times are what
`gpu_time` and `call_time` are elsewhere, by the same cache policies, of one build.
"""

from __future__ import annotations

import copy
import dataclasses
import gc
import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, repeat
from typing import Any

import torch
from torch import Tensor, nn

WARM_UP_S = 0.3
BLOCK_S = 0.04
MOST_CYCLES = 400_000_000  # a fifth of a second or so
Call = Callable[[], Any]
Tensors = Sequence[Tensor]
cuda: Any = torch.cuda  # its events and its spin kernel have no types


def relative_error(output: Tensor | tuple[Tensor, ...], expected: tuple[Tensor, ...]) -> float:
    """Relative L2 error of the worst output; NaN where there is one."""
    outputs = output if isinstance(output, tuple) else (output,)
    pairs = zip(outputs, expected, strict=True)
    errors = [float((got.double() - wanted).norm() / wanted.norm()) for got, wanted in pairs]
    return max(errors, key=lambda error: (math.isnan(error), error))


def worst_row_error(output: Tensor | tuple[Tensor, ...], expected: tuple[Tensor, ...]) -> float:
    """Of one row (the last axis) of any output, against its own norm or the usual one, whichever is more."""
    outputs = output if isinstance(output, tuple) else (output,)
    worst = []
    for got, wanted in zip(outputs, expected, strict=True):
        norms, errors = wanted.norm(dim=-1), (got.double() - wanted).norm(dim=-1)
        worst.append(float((errors / norms.clamp(min=norms.square().mean().sqrt())).max()))
    return max(worst, key=lambda error: (math.isnan(error), error))


def gpu_times(
    call: Call, device: torch.device, samples: int, prepare: Call | None = None, *, window_ns: float = 0.0
) -> list[float]:
    """ns of one call on the device: CUDA events behind a gate, so that no wait for the host is between them.

    The gate is a spin kernel that holds the stream until the whole call is enqueued. Where it opened too early, the
    sample is void and the gate grows, up to a length at which late samples count: then the host may be included.
    `window_ns`, what the two events hold beside the call, is taken off.
    """
    warm_up(repeat(call), device)
    cycles, times = 500_000, list[float]()
    while len(times) < samples:
        start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        wait_for(device)
        if prepare is not None:
            prepare()
        cuda._sleep(cycles)
        start.record()
        output = call()
        end.record()
        late = start.query()
        end.synchronize()
        del output  # not before: its memory could be handed out again
        if late and cycles < MOST_CYCLES:
            cycles *= 2
        else:
            times.append(max(start.elapsed_time(end) * 1e6 - window_ns, 0.0))
    return times


def call_times(calls: list[Call], device: torch.device, samples: int) -> list[float]:
    """ns of one call among many: blocks of calls back to back, each block waited for at its end alone."""
    turns, times = cycle(calls), list[float]()
    number = max(1, min(10_000, int(BLOCK_S / warm_up(turns, device))))
    gc.disable()
    for _ in range(samples):
        next(turns)()
        wait_for(device)
        start = time.perf_counter_ns()
        for _ in range(number):
            next(turns)()
        wait_for(device)
        times.append((time.perf_counter_ns() - start) / number)
    gc.enable()
    return times


def warm_up(turns: Iterator[Call], device: torch.device) -> float:
    """Call until clocks have risen and memory is allocated; seconds per call, the median."""
    begun, durations = time.perf_counter(), list[float]()
    while len(durations) < 3 or time.perf_counter() - begun < WARM_UP_S:
        start = time.perf_counter()
        next(turns)()
        wait_for(device)
        durations.append(time.perf_counter() - start)
    return statistics.median(durations)


def wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        cuda.synchronize(device)


def copies(inputs: Any, rotated: Tensors, device: torch.device, *, shared: Tensors = (), most: int = 64) -> list[Any]:
    """So many that, called in turn, each finds its own of the `rotated` tensors out of the device's cache: three times
    the cache's size is read in between. `shared` tensors are the same ones in all copies. A CPU is measured warm."""
    size = sum(tensor.nbytes for tensor in rotated)
    if size == 0 or device.type != "cuda":
        return [inputs]
    needed = min(most, math.ceil(3 * l2_bytes(device) / size))
    return [inputs, *(copy.deepcopy(inputs, {id(one): one for one in shared}) for _ in range(needed - 1))]


def tensors(inputs: Any) -> list[Tensor]:
    values = [getattr(inputs, field.name) for field in dataclasses.fields(inputs)]
    return [*(value for value in values if isinstance(value, Tensor)), *held(values)]


def held(values: list[Any]) -> list[Tensor]:
    models = [value for value in values if isinstance(value, nn.Module)]
    return [tensor for model in models for tensor in (*model.parameters(), *model.buffers())]


def weights(inputs: Any) -> list[Tensor]:
    """What stays from call to call: parameters, and all that a model holds."""
    values = [getattr(inputs, field.name) for field in dataclasses.fields(inputs)]
    return [*(value for value in values if isinstance(value, nn.Parameter)), *held(values)]


def activations(inputs: Any) -> list[Tensor]:
    """Floating tensors that are no weights."""
    staying = {id(tensor) for tensor in weights(inputs)}
    return [tensor for tensor in tensors(inputs) if tensor.is_floating_point() and id(tensor) not in staying]


def cache_flush(device: torch.device) -> Call:
    """Writes, then reads something else: what was written is not written back inside the timed window."""
    written = torch.empty(2 * l2_bytes(device), dtype=torch.uint8, device=device)
    read = torch.ones(l2_bytes(device), dtype=torch.float32, device=device)

    def flush() -> None:
        written.fill_(1)
        read.sum()

    return flush


def flush_and_rewrite(device: torch.device, inputs: Any) -> Call:
    """After a flush the activations are written anew, as an operator before would have left them."""
    flush = cache_flush(device)
    twins = [(value, value.clone()) for value in activations(inputs)]

    def prepare() -> None:
        flush()
        for value, twin in twins:
            value.copy_(twin)

    return prepare


def l2_bytes(device: torch.device) -> int:
    return int(cuda.get_device_properties(device).L2_cache_size)


def show(name: str, times: list[float], measured: tuple[float, float | None, float | None] | None) -> None:
    """Median and quartiles beside what Fusescope measured."""
    low, median, high = statistics.quantiles(times, n=4, method="inclusive")
    there = in_words(*measured) if measured is not None else "not measured"
    print(f"{name:<10}{in_words(median, low, high):<40}{there}")


def in_words(median: float, low: float | None, high: float | None) -> str:
    ns, unit = (1e6, "ms") if median >= 1e7 else (1e3, "µs")
    spread = "" if low is None or high is None else f" ({low / ns:,.1f}–{high / ns:,.1f})"
    return f"{median / ns:,.1f} {unit}{spread}"
