"""Results that are kept in memory, each made once however many ask for it at the same time."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from threading import Lock
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

LOCKS = 64


def kept(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """The last `most` results of a function of hashable arguments. Who asks for one that another thread is at work on
    waits for it; what fails is tried again by the next."""

    def keep(function: Callable[P, T]) -> Callable[P, T]:
        cached = cast(Callable[P, T], lru_cache(maxsize=most)(function))
        locks = [Lock() for _ in range(LOCKS)]

        @wraps(function)
        def once(*args: P.args, **kwargs: P.kwargs) -> T:
            key: Hashable = (args, tuple(kwargs.items()))
            with locks[hash(key) % LOCKS]:
                return cached(*args, **kwargs)

        return once

    return keep
