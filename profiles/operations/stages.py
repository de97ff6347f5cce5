"""Marks for the stages of an operation's maths, so that a trace can say which kernels belong to which stage."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch

PREFIX = "fusescope.stage:"

_marking = False
_nothing: AbstractContextManager[None] = nullcontext()


def stage(*names: str) -> AbstractContextManager[object]:
    """Mark what runs inside as these stages (`fusescope.stage:scores+mask`).

    Nothing at all outside a traced pass and inside compiled graphs: the compiler's question comes first, so that no
    graph depends on whether a trace is being recorded.
    """
    if torch.compiler.is_compiling() or not _marking:
        return _nothing
    return torch.profiler.record_function(PREFIX + "+".join(names))


def marking() -> bool:
    """Whether stages are being recorded just now."""
    return _marking


@contextmanager
def marked() -> Iterator[None]:
    """Record stages inside: for the traced pass alone."""
    global _marking  # noqa: PLW0603 - one process measures one variant at a time
    _marking = True
    try:
        yield
    finally:
        _marking = False
