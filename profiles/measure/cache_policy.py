"""One cache policy for every repeated time of a run: what is in the device's cache when a timed call begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from profiles.measure import rotation
from profiles.measure.cache_flush import CacheFlush, l2_bytes
from profiles.plan import CachePolicy

Rewrites = Sequence[tuple[Tensor, Tensor]]
"""Tensors, and for each one its twin with the same values elsewhere."""


class CacheState:
    """Single calls are prepared for (flushed, rewritten); calls back to back take their inputs from copies in turn.

    A CPU is measured warm: its caches cannot be emptied without taking the pages' and the predictor's state along.
    """

    def __init__(self, device: torch.device, policy: CachePolicy) -> None:
        self._device = device
        self.policy = policy if device.type == "cuda" else CachePolicy.WARM
        self._flush = None if self.policy is CachePolicy.WARM else CacheFlush(device)

    def prepare(self, rewrites: Rewrites) -> None:
        """Enqueue what must precede a single call, outside its window; nothing waits for it."""
        if self._flush is not None:
            self._flush()
        for tensor, twin in rewrites:  # as an operator before would have left it: just written
            tensor.copy_(twin)

    def copies(
        self, inputs: Any, *, kept: Sequence[Tensor], room_bytes: int, most: int = rotation.MOST_COPIES
    ) -> list[Any]:
        """Fresh copies of `inputs` to be called in turn, at most `most`: one where the policy asks for no more.

        The tensors in `kept` stay the same ones in all copies. In context the activations do among the copies: they
        are what the call before has touched, only the weights differ.
        """
        first = rotation.copied(inputs, sharing=kept)
        if self.policy is CachePolicy.WARM:
            return [first]
        in_context = self.policy is CachePolicy.IN_CONTEXT
        rotated = rotation.weights(first) if in_context else rotation.tensors(first)
        number = rotation.copies_needed(
            rotation.size_bytes(rotated), cache_bytes=l2_bytes(self._device), room_bytes=room_bytes, most=most
        )
        shared = (*kept, *(rotation.activations(first) if in_context else ()))
        return [first, *(rotation.copied(first, sharing=shared) for _ in range(number - 1))]

    def rewrites(self, inputs: Any) -> Rewrites:
        """For `prepare`: the activations with twins of their values, in context; else nothing is rewritten."""
        if self.policy is not CachePolicy.IN_CONTEXT:
            return ()
        return tuple((tensor, tensor.clone()) for tensor in rotation.activations(inputs))
