"""Versions that decide which code runs."""

from __future__ import annotations

import importlib.metadata
from typing import Any

import torch


def versions(*packages: str, cudnn: bool = False) -> dict[str, str]:
    """Torch's, cuDNN's where it is asked for, and of `packages` those that are installed."""
    found = {"torch": str(torch.__version__)}
    if cudnn and (number := cudnn_version()) is not None:
        found["cudnn"] = number
    for package in packages:
        if (installed := installed_version(package)) is not None:
            found[package] = installed
    return found


def cudnn_version() -> str | None:
    """`9.19.0` of 91900 (before cuDNN 9: 8902 is 8.9.2)."""
    cudnn: Any = torch.backends.cudnn
    number = cudnn.version()
    if number is None:
        return None
    major = 10_000 if number >= 90_000 else 1_000
    return f"{number // major}.{number % major // 100}.{number % 100}"


def installed_version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
