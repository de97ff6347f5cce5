"""The facts that identify the measuring machine, asked where torch and the device are at hand."""

from __future__ import annotations

import platform

import torch

from profiles.devices import memory_bytes, processor_name
from profiles.environment import Environment
from profiles.measure import nvml
from profiles.operations.versions import cudnn_version, installed_version


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
        cudnn=cudnn_version(),
        torch=str(torch.__version__),
        triton=installed_version("triton"),
        transformers=installed_version("transformers"),
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
        transformers=installed_version("transformers"),
        python=platform.python_version(),
        platform=_platform(),
    )


def _platform() -> str:
    return f"{platform.system()} {platform.machine()}"
