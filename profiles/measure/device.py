"""The device that a process measures on; asking for it is what initialises CUDA."""

from __future__ import annotations

import torch


class DeviceError(RuntimeError):
    """The device of the spec is not there."""


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
        torch.cuda.init()
    return device


def synchronise(device: torch.device) -> None:
    """Wait until the device has done everything; on a CPU it always has."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
