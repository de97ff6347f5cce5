"""Steady back-to-back calls on the wall clock: what a host-bound model sees, and the principal time on a CPU."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

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


def time_block(in_turn: Iterator[Subject], device: torch.device, *, calls: int) -> float:
    """ns per call of a block of `calls`, waiting for the device at the end alone.

    `in_turn` goes round the copies of the inputs, as many as the cache policy asks for: with one, the caches are as
    each call leaves them to the next.
    """
    synchronise(device)
    start = time.perf_counter_ns()
    for subject in islice(in_turn, calls):
        subject.call()
    synchronise(device)
    return (time.perf_counter_ns() - start) / calls


@contextmanager
def no_collection() -> Iterator[None]:
    """Python's garbage is collected between builds, not inside a block.

    What is there already is put aside: it is not looked through again each time.
    """
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()
