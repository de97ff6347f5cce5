"""Random tensors by a stated distribution and seed: what is timed is never zeros, never uninitialised."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from profiles.workload import Distribution, DType, Workload

TORCH_DTYPES = {DType.BF16: torch.bfloat16, DType.FP16: torch.float16, DType.FP32: torch.float32}


class RandomInputs:
    """Draws one workload's tensors in order, on the device, from the workload's seed.

    The device's own generator is used: equal seeds give equal values on one kind of device, not across kinds.
    """

    def __init__(self, workload: Workload, device: torch.device) -> None:
        self.dtype = TORCH_DTYPES[workload.dtype]
        self.device = device
        self._uniform = workload.distribution is Distribution.UNIFORM
        self._generator = torch.Generator(device).manual_seed(workload.seed)

    def activations(self, *shape: int) -> Tensor:
        """Standard normal, or uniform in [-1, 1)."""
        return self._draw(shape).to(self.dtype)

    def weights(self, *shape: int, fan_in: int) -> nn.Parameter:
        """Drawn alike and divided by √fan_in, so that what a matmul yields is about as large as what it was given."""
        return nn.Parameter((self._draw(shape) / math.sqrt(fan_in)).to(self.dtype), requires_grad=False)

    def tokens(self, *shape: int, vocabulary: int) -> Tensor:
        """Token ids, each as likely as the other, whatever the distribution."""
        return torch.randint(vocabulary, shape, generator=self._generator, device=self.device)

    def _draw(self, shape: tuple[int, ...]) -> Tensor:
        if self._uniform:
            return torch.rand(shape, generator=self._generator, device=self.device) * 2 - 1
        return torch.randn(shape, generator=self._generator, device=self.device)
