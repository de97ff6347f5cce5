"""Which layers of a model `kernels.kernelize` gave a hub kernel, and which kept their own forward without a word.

Nothing of the package `kernels` is imported here: the caller hands in its `kernelize`, with mode and device bound.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any, Protocol

from torch import nn

from profiles.operations.versions import versions
from profiles.results import Receipt

HUB, OWN = "hub kernel", "own forward"


class Kernelize(Protocol):
    """`partial(kernels.kernelize, mode=…, device=…)`."""

    def __call__(self, model: nn.Module, *, use_fallback: bool) -> object: ...


def kernelized(model: nn.Module, kernelize: Kernelize) -> tuple[Receipt, ...]:
    """Kernelize the model, falling back where it must; one receipt for each kind of layer that asks for a kernel.

    The package says nothing, or so at INFO, where a layer falls back. Asked once more for that layer alone and without
    a fallback, it raises the reason.
    """
    kinds = _kinds(model)
    kernelize(model, use_fallback=True)
    return tuple(_receipt(name, layers, kernelize) for name, layers in kinds.items())


def _kinds(model: nn.Module) -> dict[str, list[nn.Module]]:
    kinds: dict[str, list[nn.Module]] = {}
    for layer in model.modules():
        name = getattr(type(layer), "kernel_layer_name", None)
        if name is not None:
            kinds.setdefault(str(name), []).append(layer)
    return kinds


def _receipt(name: str, layers: list[nn.Module], kernelize: Kernelize) -> Receipt:
    own = [layer for layer in layers if _forward(layer) is type(layer).forward]
    replaced = [layer for layer in layers if layer not in own]
    reasons = dict.fromkeys(_why_own(layer, kernelize) for layer in own)
    why = "; ".join(reasons)
    return Receipt(
        mechanism="kernelize",
        asked=f"{HUB} for {name}",
        ran=" and ".join([*_sources(replaced), *([OWN] if own else [])]),
        fell_back=bool(own),
        refusals={HUB: why} if own else {},
        detail=f"{len(own)} of {len(layers)} {name} layers kept their own forward: {why}" if own else None,
        versions=versions("kernels", "transformers"),
    )


def _forward(layer: nn.Module) -> Any:
    return inspect.unwrap(getattr(layer.forward, "__func__", layer.forward))


def _sources(layers: Iterable[nn.Module]) -> list[str]:
    """`hub kernel activation.SiluAndMul`: where the code comes from that runs."""
    found = dict.fromkeys(_forward(layer).__qualname__.rpartition(".")[0] for layer in layers)
    return [f"{HUB} {name}" for name in found]


def _why_own(layer: nn.Module, kernelize: Kernelize) -> str:
    """A condition of the layer's own is all that is left where the package then raises nothing."""
    try:
        kernelize(layer, use_fallback=False)
    except (ValueError, TypeError, OSError, ImportError) as error:
        return " ".join(str(error).split())
    return "the layer's own condition leaves it out"
