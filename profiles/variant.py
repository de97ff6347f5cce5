"""A variant: an implementation in an execution, written `unfused@compile`; `@eager` is the default and left out."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Execution(StrEnum):
    """How an implementation is run. `compile-*` are torch.compile's modes; `cudagraph` replays a capture of the eager
    calls."""

    EAGER = "eager"
    COMPILE = "compile"
    COMPILE_REDUCE_OVERHEAD = "compile-reduce-overhead"
    COMPILE_MAX_AUTOTUNE = "compile-max-autotune"
    CUDAGRAPH = "cudagraph"

    @property
    def compiles(self) -> bool:
        return self.value.startswith("compile")

    @property
    def needs_graphs(self) -> bool:
        """Whether it is nothing without CUDA graphs."""
        return self in {Execution.COMPILE_REDUCE_OVERHEAD, Execution.CUDAGRAPH}

    @property
    def asks_for_graphs(self) -> bool:
        """Whether it replays CUDA graphs where the device has them."""
        return self.needs_graphs or self is Execution.COMPILE_MAX_AUTOTUNE


class VariantError(ValueError):
    """A text that names no variant."""


class Variant(NamedTuple):
    implementation: str
    execution: Execution = Execution.EAGER

    def __str__(self) -> str:
        suffix = "" if self.execution is Execution.EAGER else f"@{self.execution}"
        return f"{self.implementation}{suffix}"


def parse_variant(text: str) -> Variant:
    """The variant that `text` names; whether the operation has it is the catalogue's to say."""
    implementation, _, execution = text.partition("@")
    try:
        return Variant(implementation, Execution(execution or "eager"))
    except ValueError:
        accepted = ", ".join(repr(str(e)) for e in Execution)
        raise VariantError(f"unknown execution {execution!r} in variant {text!r}; expected one of {accepted}") from None
