"""The facts that identify the measuring machine, asked where torch and the device are at hand."""

from __future__ import annotations

import importlib.metadata
import platform
from typing import Any

import torch

from profiles.devices import memory_bytes, processor_name
from profiles.environment import Environment
from profiles.measure import nvml


def environment(device: torch.device) -> Environment:
    return _of_gpu(device) if device.type == "cuda" else _of_cpu()


def _of_gpu(device: torch.device) -> Environment:
    properties = torch.cuda.get_device_properties(device)
    return Environment(
        device="cuda",
        device_name=properties.name,
        memory_bytes=properties.total_memory,
        driver=nvml.driver_version(),
        cuda=torch.version.cuda,
        cudnn=_cudnn_version(),
        torch=str(torch.__version__),
        triton=_installed("triton"),
        transformers=_installed("transformers"),
        python=platform.python_version(),
        platform=_platform(),
    )


def _of_cpu() -> Environment:
    return Environment(
        device="cpu",
        device_name=processor_name(),
        memory_bytes=memory_bytes(),
        cores=torch.get_num_threads(),
        torch=str(torch.__version__),
        transformers=_installed("transformers"),
        python=platform.python_version(),
        platform=_platform(),
    )


def _cudnn_version() -> str | None:
    """`9.19.0` of 91900 (before cuDNN 9: 8902 is 8.9.2)."""
    cudnn: Any = torch.backends.cudnn
    number = cudnn.version()
    if number is None:
        return None
    major = 10_000 if number >= 90_000 else 1_000
    return f"{number // major}.{number % major // 100}.{number % 100}"


def _installed(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _platform() -> str:
    return f"{platform.system()} {platform.machine()}"
