"""What a window of two events holds beside the kernel in it: starting and ending one takes the device some 2 µs.

Found once per trial by timing one small kernel both ways, between events and by the records of the driver (CUPTI). In a
process of its own, since the recorder leaves later calls slower. `python -m profiles.measure.window cuda:0` prints it.
"""

from __future__ import annotations

import signal
import statistics
import sys

import torch

from profiles.measure.cupti_time import RecordsError, busy_times
from profiles.measure.device import take_device
from profiles.measure.gate import Gate
from profiles.measure.gpu_time import GatedTimer
from profiles.measure.messages import Outbox, WindowMeasured

LONGEST_S = 30
ELEMENTS = 1 << 20  # of fp32: a kernel of many blocks that writes, and takes a few µs
SAMPLES = 41


def tell_window(device: str, outbox: Outbox) -> None:
    """A forked process's work. It ends itself where the device does not come back: nothing depends on it."""
    signal.alarm(LONGEST_S)
    outbox.send(WindowMeasured(ns=measure_window(take_device(device))))


@torch.no_grad()
def measure_window(device: torch.device) -> float | None:
    """ns; None where the driver gives no records, or this torch no gate."""
    gate = Gate()
    if not gate.available:
        return None
    x = torch.ones(ELEMENTS, device=device)

    def call() -> torch.Tensor:
        return x.add_(1.0)

    timer = GatedTimer(device, gate)
    windows = [timer.sample(call).duration_ns for _ in range(SAMPLES)]
    try:
        recorded = busy_times(call, lambda: None, calls=SAMPLES, device=device, gate=gate)
    except RecordsError:
        return None
    return max(0.0, statistics.median(windows) - statistics.median(recorded))


if __name__ == "__main__":
    print(measure_window(take_device(sys.argv[1])))
