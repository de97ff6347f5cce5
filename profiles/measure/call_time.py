"""Steady back-to-back calls on the wall clock: what a host-bound model sees, and the principal time on a CPU."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from profiles.measure.device import synchronise
from profiles.measure.subject import Subject

WARM_UP_S = 0.3
LEAST_WARM_UP_CALLS = 3


def warm_up(subject: Subject, device: torch.device) -> float:
    """Call for a while, so that clocks rise and allocators fill; the median of how many seconds a call took.

    By time, not by count: a fast variant is called often enough for the clocks to notice.
    """
    start, durations = time.perf_counter(), list[float]()
    while len(durations) < LEAST_WARM_UP_CALLS or time.perf_counter() - start < WARM_UP_S:
        call_start = time.perf_counter()
        subject.call()
        synchronise(device)
        durations.append(time.perf_counter() - call_start)
    return statistics.median(durations)


def time_block(subject: Subject, device: torch.device, *, calls: int) -> float:
    """ns per call of a block of `calls` after one untimed call, waiting for the device at the end alone.

    The caches are as each call leaves them to the next, whatever the plan's policy: that is what back-to-back means.
    """
    subject.call()
    synchronise(device)
    with _no_collection():
        start = time.perf_counter_ns()
        for _ in range(calls):
            subject.call()
        synchronise(device)
        return (time.perf_counter_ns() - start) / calls


@contextmanager
def _no_collection() -> Iterator[None]:
    """Python's garbage is collected between blocks, not inside one."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
