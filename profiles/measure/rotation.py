"""Copies of a call's inputs, so many that called in turn each finds its own out of the device's cache."""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Iterable, Iterator
from typing import Any

from torch import Tensor, nn

CACHES_BETWEEN = 3  # so many times the cache's size is read before the same copy's turn comes again
MOST_COPIES = 64


def copies_needed(size_bytes: int, *, cache_bytes: int, room_bytes: int, most: int = MOST_COPIES) -> int:
    """How many copies of inputs of `size_bytes` outgrow the cache, at most `most`; 1 where one does, or where there is
    no room.

    Without anything to read (0 bytes) nothing can be in the cache: 1.
    """
    if size_bytes <= 0:
        return 1
    outgrow = math.ceil(CACHES_BETWEEN * cache_bytes / size_bytes)
    return max(1, min(outgrow, most, room_bytes // size_bytes))


def copied(inputs: Any, *, sharing: Iterable[Tensor] = ()) -> Any:
    """Equal values in new memory, parameters and modules too; the tensors in `sharing` are used again."""
    return copy.deepcopy(inputs, {id(tensor): tensor for tensor in sharing})


def tensors(inputs: Any) -> tuple[Tensor, ...]:
    """Every tensor of the inputs once: fields, items of containers, parameters and buffers of modules."""
    return tuple({id(tensor): tensor for tensor in _walk(inputs)}.values())


def weights(inputs: Any) -> tuple[Tensor, ...]:
    """What stays from call to call: parameters, and all that a module holds."""
    held = {id(tensor) for module in _modules(inputs) for tensor in _held(module)}
    return tuple(t for t in tensors(inputs) if isinstance(t, nn.Parameter) or id(t) in held)


def activations(inputs: Any) -> tuple[Tensor, ...]:
    """What an earlier operator would have written just before: floating tensors that are no weights."""
    staying = {id(tensor) for tensor in weights(inputs)}
    return tuple(t for t in tensors(inputs) if t.is_floating_point() and id(t) not in staying)


def size_bytes(found: Iterable[Tensor]) -> int:
    """Of the memory behind the tensors, what two of them share counted once."""
    storages = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in found}
    return sum(storages.values())


def _walk(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, nn.Module):
        yield from _held(value)
    else:
        for part in _parts(value):
            yield from _walk(part)


def _modules(value: Any) -> Iterator[nn.Module]:
    if isinstance(value, nn.Module):
        yield value
    else:
        for part in _parts(value):
            yield from _modules(part)


def _held(module: nn.Module) -> Iterator[Tensor]:
    yield from module.parameters()
    yield from module.buffers()


def _parts(value: Any) -> Iterable[Any]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list | tuple) else ()
