"""The devices of this machine, and what a worker on each could do, found without loading torch or touching CUDA."""

from __future__ import annotations

import os
import platform
import shutil
import socket
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from profiles.worker import Capabilities

PACKAGES = ("torch", "triton", "transformers", "flash-attn", "flashinfer-python", "kernels", "liger-kernel", "vllm")
COMPILERS = ("g++", "clang++", "c++")


class DeviceError(ValueError):
    """A device that this machine does not have."""


def find_devices() -> tuple[Capabilities, ...]:
    """CUDA devices by torch's numbers, then the CPU: the best device of this machine comes first."""
    return (*cuda_devices(), cpu_device())


def find_device(device: str) -> Capabilities:
    """The device `cpu`, `cuda:N` or `cuda` (the first). DeviceError where there is none."""
    found = find_devices()
    for candidate in found:
        if device in (candidate.device, candidate.device.partition(":")[0]):
            return candidate
    accepted = ", ".join(repr(candidate.device) for candidate in found)
    raise DeviceError(f"no device {device!r} on this machine; expected one of {accepted}")


def cpu_device() -> Capabilities:
    return _capabilities("cpu", name=processor_name(), memory_bytes=memory_bytes())


def cuda_devices(environ: Mapping[str, str] = os.environ) -> tuple[Capabilities, ...]:
    """Those that CUDA_VISIBLE_DEVICES leaves, in its order; none where NVML or the driver is absent."""
    try:
        import pynvml  # noqa: PLC0415 - optional

        pynvml.nvmlInit()
    except ImportError:
        return ()
    except pynvml.NVMLError:
        return ()
    try:
        handles = _visible(pynvml, environ.get("CUDA_VISIBLE_DEVICES"))
        return tuple(
            _capabilities(
                f"cuda:{index}",
                name=str(pynvml.nvmlDeviceGetName(handle)),
                memory_bytes=int(pynvml.nvmlDeviceGetMemoryInfo(handle).total),
            )
            for index, handle in enumerate(handles)
        )
    finally:
        pynvml.nvmlShutdown()


def _visible(nvml: Any, chosen: str | None) -> list[Any]:
    """Handles of the devices that CUDA would see: it stops at the first entry that names none."""
    everything = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())]
    if chosen is None:
        return everything
    visible: list[Any] = []
    for entry in (entry.strip() for entry in chosen.split(",")):
        handle = _named(nvml, entry, everything)
        if handle is None:
            break
        visible.append(handle)
    return visible


def _named(nvml: Any, entry: str, everything: list[Any]) -> Any | None:
    """By number, or by UUID (`GPU-…`, `MIG-…`), of which CUDA accepts any unique beginning."""
    if entry.isdecimal():
        return everything[int(entry)] if int(entry) < len(everything) else None
    if entry.startswith("GPU-"):
        matching = [handle for handle in everything if str(nvml.nvmlDeviceGetUUID(handle)).startswith(entry)]
        return matching[0] if len(matching) == 1 else None
    if not entry.startswith("MIG-"):
        return None
    try:
        return nvml.nvmlDeviceGetHandleByUUID(entry)
    except nvml.NVMLError:
        return None


def _capabilities(device: str, *, name: str, memory_bytes: int | None) -> Capabilities:
    packages = installed_packages()
    return Capabilities(
        device=device,
        device_name=name,
        memory_bytes=memory_bytes,
        host=socket.gethostname(),
        torch=packages.get("torch"),
        packages=packages,
        compiler=any(shutil.which(compiler) for compiler in (os.environ.get("CXX") or COMPILERS[0], *COMPILERS)),
    )


def installed_packages() -> dict[str, str]:
    """Versions of the packages that implementations may need, by the names that the catalogue uses."""
    found: dict[str, str] = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def processor_name() -> str:
    """The model as the processor writes it; the architecture where it does not."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, "") or platform.processor() or platform.machine()


def memory_bytes() -> int:
    """Of this machine, whatever may be used of it."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
