"""Run a module in float64 without a float64 copy of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn


@contextmanager
def in_float64(model: nn.Module) -> Iterator[None]:
    """Widen each module's own parameters to float64 just while it runs; its output goes on in float64.

    For modules that call no other module of theirs while their own parameters matter, as in transformers' decoders.
    Shared parameters (tied embeddings) are widened by whichever module runs.
    """
    narrow: dict[nn.Module, list[Tensor]] = {}

    def widen(module: nn.Module, _: Any) -> None:
        narrow[module] = [parameter.data for parameter in module.parameters(recurse=False)]
        for parameter in module.parameters(recurse=False):
            parameter.data = parameter.data.double()

    def restore(module: nn.Module, _: Any, __: Any) -> None:
        for parameter, data in zip(module.parameters(recurse=False), narrow.pop(module), strict=True):
            parameter.data = data

    owners = [module for module in model.modules() if next(module.parameters(recurse=False), None) is not None]
    hooks = [owner.register_forward_pre_hook(widen) for owner in owners]
    hooks += [owner.register_forward_hook(restore, always_call=True) for owner in owners]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
