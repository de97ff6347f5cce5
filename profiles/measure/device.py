"""The device that a process measures on; asking for it is what initialises CUDA."""

from __future__ import annotations

from typing import Any

import torch


class DeviceError(RuntimeError):
    """The device of the spec is not there."""


class DeviceLostError(RuntimeError):
    """A kernel broke this process's CUDA context: nothing more can be measured in it, but a new process can."""


def take_device(name: str) -> torch.device:
    """`cpu` or `cuda:N`, ready to be used; DeviceError where this machine or this torch does not have it."""
    device = torch.device(name)
    if device.type == "cuda":
        if not torch.cuda.is_available():
            raise DeviceError(f"{name} is not available: this torch ({torch.__version__}) finds no CUDA device")
        count = torch.cuda.device_count()
        if (device.index or 0) >= count:
            raise DeviceError(f"{name} is not available: this machine has {count} CUDA device(s), numbered from 0")
        torch.cuda.set_device(device)
        torch.zeros(1, device=device)  # what initialises the context
    return device


def synchronise(device: torch.device) -> None:
    """Wait until the device has done everything; on a CPU it always has."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def timing_event() -> Any:
    """An event that knows its time; torch's class has no types."""
    make: Any = torch.cuda.Event
    return make(enable_timing=True)
