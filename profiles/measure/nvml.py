"""What NVIDIA's management library tells about a GPU; everything here is None where it does not answer."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import torch

# By NVML's bits (nvml.h, nvmlClocksEventReason…). An idle GPU (0x1), limits set by people (0x2) and the display's
# clock (0x100) are no throttling.
THROTTLE_REASONS = {
    0x04: "power_cap",
    0x08: "hardware_slowdown",
    0x10: "sync_boost",
    0x20: "software_thermal",
    0x40: "hardware_thermal",
    0x80: "power_brake",
}


class GpuState(NamedTuple):
    sm_clock_mhz: int | None = None
    temperature_c: int | None = None
    memory_clock_mhz: int | None = None
    power_w: float | None = None
    throttle: tuple[str, ...] = ()


def driver_version() -> str | None:
    nvml = _library()
    if nvml is not None:
        with suppress(nvml.NVMLError):
            version = nvml.nvmlSystemGetDriverVersion()
            return version.decode() if isinstance(version, bytes) else str(version)
    return None


def gpu_state(device: torch.device) -> GpuState:
    """Clocks, temperature, power and throttling as found just now; never set. Each is None by itself where not told."""
    nvml, handle = _library(), _handle(device)
    if handle is None:
        return GpuState()
    return GpuState(
        sm_clock_mhz=_asked(nvml, lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM)),
        temperature_c=_asked(nvml, lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU)),
        memory_clock_mhz=_asked(nvml, lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM)),
        power_w=power_w(device),
        throttle=throttle_reasons(_asked(nvml, lambda: _reasons(nvml, handle)) or 0),
    )


def throttle_reasons(bits: int) -> tuple[str, ...]:
    return tuple(name for bit, name in THROTTLE_REASONS.items() if bits & bit)


def energy_mj(device: torch.device) -> int | None:
    """The energy counter since the driver was loaded; GPUs before Volta have none."""
    nvml, handle = _library(), _handle(device)
    return None if handle is None else _asked(nvml, lambda: nvml.nvmlDeviceGetTotalEnergyConsumption(handle))


def power_w(device: torch.device) -> float | None:
    nvml, handle = _library(), _handle(device)
    power_mw = None if handle is None else _asked(nvml, lambda: nvml.nvmlDeviceGetPowerUsage(handle))
    return None if power_mw is None else power_mw / 1e3


def _asked(nvml: Any, question: Callable[[], Any]) -> int | None:
    with suppress(nvml.NVMLError):
        return int(question())
    return None


def _reasons(nvml: Any, handle: Any) -> int:
    """Older packages know the question by its older name alone."""
    ask = getattr(nvml, "nvmlDeviceGetCurrentClocksEventReasons", None)
    return int((ask or nvml.nvmlDeviceGetCurrentClocksThrottleReasons)(handle))


@cache
def _handle(device: torch.device) -> Any:
    """By UUID: NVML counts all GPUs of the machine, torch those that CUDA_VISIBLE_DEVICES leaves. None: not told."""
    nvml = _library()
    if nvml is None or device.type != "cuda":
        return None
    uuid = getattr(torch.cuda.get_device_properties(device), "uuid", None)
    with suppress(nvml.NVMLError):
        if uuid is None:
            return nvml.nvmlDeviceGetHandleByIndex(device.index or 0)
        text = str(uuid)
        return nvml.nvmlDeviceGetHandleByUUID(text if text.startswith("GPU-") else f"GPU-{text}")
    return None


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
