"""From the catalogue's dotted paths to code."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Protocol, cast

import torch
from torch import Tensor

from profiles import catalog
from profiles.ceilings import Costs
from profiles.operations.implementation import Forward
from profiles.results import Receipt
from profiles.variant import parse_variant
from profiles.workload import Workload

AS_WRITTEN = ("eager", "cudagraph")
"""The executions that run an implementation's own operators."""


class OperationModule(Protocol):
    """What a module in `profiles/operations/` holds, beside its implementations.

    `neighbour` is the shape next to a workload's, for the same backends; `resized` are the inputs of another workload
    beside those that are there: drawn anew, with the weights that there are. `reference` is what is right, in float64,
    and `plain` the same by plain code in the workload's dtype: what rounding alone does. Both hold a piece of their
    intermediate results at a time.
    """

    def inputs(self, workload: Workload, device: torch.device) -> Any: ...
    def tiny(self, workload: Workload) -> Workload: ...
    def neighbour(self, workload: Workload) -> Workload: ...
    def resized(self, inputs: Any, workload: Workload) -> Any: ...
    def reference(self, inputs: Any) -> tuple[Tensor, ...]: ...
    def plain(self, inputs: Any) -> tuple[Tensor, ...]: ...
    def error_allowed(self, workload: Workload) -> float: ...
    def useful_flops(self, workload: Workload) -> int | None: ...
    def least_bytes(self, workload: Workload) -> int: ...
    def tokens(self, workload: Workload) -> int | None: ...


def operation_module(workload: Workload) -> OperationModule:
    name = catalog.operation(workload.operation).module
    return cast(OperationModule, importlib.import_module(name))


def implementation(workload: Workload, name: str) -> Forward:
    path = catalog.operation(workload.operation).implementation(name).path
    module, _, function = path.partition(":")
    return cast(Forward, getattr(importlib.import_module(module), function))


def costs(module: OperationModule, workload: Workload, variant: str) -> Costs | None:
    """What the variant needs and does; None where the operation does not say. What a compiler makes of the code moves
    and computes other amounts than the code as written."""
    tell = cast(Callable[[Workload, str | None], Costs] | None, getattr(module, "costs", None))
    if tell is None:
        return None
    name, execution = parse_variant(variant)
    return tell(workload, name if execution in AS_WRITTEN else None)


def receipt(module: OperationModule, name: str, inputs: Any) -> Receipt | None:
    """None where the operation asks torch for no backend: such a module has no `receipt`."""
    write = cast(Callable[[str, Any], Receipt | None] | None, getattr(module, "receipt", None))
    return None if write is None else write(name, inputs)
