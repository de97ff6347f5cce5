"""Empty the device's cache of what the next call might find there, and of what it would have to write back."""

from __future__ import annotations

import torch

UNKNOWN_L2_BYTES = 128 << 20  # assumed where the device does not tell: more than any GPU has today


def l2_bytes(device: torch.device) -> int:
    """Of a CUDA device's last cache."""
    return told_l2_bytes(device) or UNKNOWN_L2_BYTES


def told_l2_bytes(device: torch.device) -> int | None:
    """None of a CPU, and where the device does not tell."""
    if device.type != "cuda":
        return None
    return int(getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 0)) or None


class CacheFlush:
    """Two buffers on the device: one is written, then another one, twice that size, is read.

    Reading something else pushes the written lines out too, so that none is written back inside a timed window.
    """

    def __init__(self, device: torch.device) -> None:
        l2 = l2_bytes(device)
        self._written = torch.empty(2 * l2 // 4, dtype=torch.float32, device=device)
        self._read = torch.ones(4 * l2 // 4, dtype=torch.float32, device=device)
        self._sum = torch.zeros((), dtype=torch.float32, device=device)

    def __call__(self) -> None:
        """Enqueue the flush; nothing waits for it."""
        self._written.fill_(1.0)
        torch.sum(self._read, dim=0, out=self._sum)
