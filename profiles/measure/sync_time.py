"""One call and a synchronisation from an idle device: what a lone caller sees, and what the host spends of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import torch

from profiles.measure.device import synchronise


class LoneCall(NamedTuple):
    """`enqueue_ns` is until the call returned, `total_ns` until the device had done it; on a CPU they are one."""

    total_ns: int
    enqueue_ns: int


def time_lone_call(call: Callable[[], object], device: torch.device, prepare: Callable[[], None]) -> LoneCall:
    """`prepare` enqueues what must precede the call: the device has done it, and is idle, when the clock starts."""
    prepare()
    synchronise(device)
    start = time.perf_counter_ns()
    output = call()
    returned = time.perf_counter_ns()
    synchronise(device)
    end = time.perf_counter_ns()
    del output
    return LoneCall(end - start, returned - start)
