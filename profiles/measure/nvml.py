"""What NVIDIA's management library tells about a GPU; everything here is None where it does not answer."""

from __future__ import annotations

import importlib
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import torch


class GpuState(NamedTuple):
    sm_clock_mhz: int | None = None
    temperature_c: int | None = None


def driver_version() -> str | None:
    nvml = _library()
    if nvml is not None:
        with suppress(nvml.NVMLError):
            version = nvml.nvmlSystemGetDriverVersion()
            return version.decode() if isinstance(version, bytes) else str(version)
    return None


def gpu_state(device: torch.device) -> GpuState:
    """Clock and temperature as found just now; never set."""
    nvml = _library()
    if nvml is not None:
        with suppress(nvml.NVMLError):
            handle = _handle(nvml, device)
            clock = int(nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM))
            return GpuState(clock, int(nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU)))
    return GpuState()


def _handle(nvml: Any, device: torch.device) -> Any:
    """By UUID: NVML counts all GPUs of the machine, torch those that CUDA_VISIBLE_DEVICES leaves."""
    uuid = getattr(torch.cuda.get_device_properties(device), "uuid", None)
    if uuid is None:
        return nvml.nvmlDeviceGetHandleByIndex(device.index or 0)
    text = str(uuid)
    return nvml.nvmlDeviceGetHandleByUUID(text if text.startswith("GPU-") else f"GPU-{text}")


@cache
def _library() -> Any:
    """The library, initialised once for the process's life; None where the package or the driver is missing."""
    try:
        nvml: Any = importlib.import_module("pynvml")
        nvml.nvmlInit()
    except ModuleNotFoundError:
        return None
    except nvml.NVMLError:
        return None
    return nvml
