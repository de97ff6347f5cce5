"""What an implementation is to the measuring child: a function of the operation's inputs, perhaps within a context."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from torch import Tensor

Output = Tensor | tuple[Tensor, ...]
Forward = Callable[[Any], Output]
Context = Callable[[Any], AbstractContextManager[object]]


class UnsupportedError(ValueError):
    """What was asked for cannot run here; the message is the reason that people see."""


@dataclass(frozen=True, slots=True)
class Within:
    """An implementation with the context that it runs in: entered once around many calls, outside timed windows."""

    function: Forward
    context: Context

    def __call__(self, inputs: Any) -> Output:
        with self.context(inputs):
            return self.function(inputs)


def within(context: Context) -> Callable[[Forward], Within]:
    """Give the decorated implementation a context; `context` is called with the inputs."""
    return lambda function: Within(function, context)


def parts(implementation: Forward) -> tuple[Forward, Context]:
    """The bare function and the context of an implementation."""
    if isinstance(implementation, Within):
        return implementation.function, implementation.context
    return implementation, _no_context


def _no_context(_: Any) -> AbstractContextManager[None]:
    return nullcontext()
