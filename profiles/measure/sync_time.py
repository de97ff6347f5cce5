"""One call and a synchronisation from an idle device: what a lone caller sees, and what the host spends of it."""

from __future__ import annotations

import time
from typing import NamedTuple

import torch

from profiles.measure.device import synchronise
from profiles.measure.subject import Subject


class LoneCall(NamedTuple):
    """`enqueue_ns` is until the call returned, `total_ns` until the device had done it; on a CPU they are one."""

    total_ns: int
    enqueue_ns: int


def time_lone_call(subject: Subject, device: torch.device) -> LoneCall:
    synchronise(device)
    start = time.perf_counter_ns()
    output = subject.call()
    returned = time.perf_counter_ns()
    synchronise(device)
    end = time.perf_counter_ns()
    del output
    return LoneCall(end - start, returned - start)
