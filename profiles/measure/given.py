"""The inputs that all variants of a trial share: exchanged on purpose, looked after, and put back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from profiles.measure.rotation import tensors
from profiles.measure.row_errors import bits

# Elements of a weight that are widened to int64 at a time: on a CPU what one thread does by itself (to wait for others
# on a busy machine takes ten times as long), on a GPU 32 MiB.
AT_ONCE = {"cpu": 1 << 15, "cuda": 1 << 22}


class Given:
    """`others` has the same weights and other activations; both are told apart by being the same tensors or not.

    The exchange is in place, so that what a variant keeps by address (a captured graph, a cache) meets it too. Holds
    the activations twice more.
    """

    def __init__(self, inputs: Any, others: Any, *, redraw: Callable[[], Any]) -> None:
        pairs = list(zip(tensors(inputs), tensors(others), strict=True))
        self._activations = [mine for mine, other in pairs if mine is not other]
        self._own = [mine.clone() for mine in self._activations]
        self._others = [other for mine, other in pairs if mine is not other]
        self._weights = [mine for mine, other in pairs if mine is other]
        self._sums = _sums(self._weights)
        self._inputs, self._redraw = inputs, redraw

    @property
    def all(self) -> list[Tensor]:
        return self._activations + self._weights

    def exchange(self) -> None:
        _copy(self._others, self._activations)

    def put_back(self) -> None:
        """The workload's own activations again, whatever became of them."""
        _copy(self._own, self._activations)

    def redraw_weights(self) -> None:
        """The workload's own weights again; needs the inputs once more for a moment."""
        _copy(tensors(self._redraw()), tensors(self._inputs))

    @property
    def changed(self) -> bool:
        """Whether the activations are neither the workload's own nor the others, bit by bit."""
        return not (_equal(self._activations, self._own) or _equal(self._activations, self._others))

    @property
    def weights_changed(self) -> bool:
        """By sums over their bits and places: some whole models' weights would not fit twice."""
        return _sums(self._weights) != self._sums


def _copy(sources: Sequence[Tensor], targets: Sequence[Tensor]) -> None:
    for source, target in zip(sources, targets, strict=True):
        target.copy_(source)


def _equal(some: list[Tensor], others: list[Tensor]) -> bool:
    return all(torch.equal(bits(one), bits(other)) for one, other in zip(some, others, strict=True))


def _sums(weights: list[Tensor]) -> list[int]:
    """Asked of the device at once: waiting for each of a model's hundreds of tensors takes longer than the sums."""
    sums = [_sum(weight) for weight in weights]
    return torch.stack(sums).tolist() if sums else []


def _sum(weight: Tensor) -> Tensor:
    """Of the bits of all elements, each times its place, so that another order is another sum; modulo 2^64."""
    found = torch.zeros((), dtype=torch.int64, device=weight.device)
    first = 1
    for piece in torch.split(bits(weight).reshape(-1), AT_ONCE[weight.device.type]):
        places = torch.arange(first, first + len(piece), device=weight.device)
        found += (piece.long() * places).sum()
        first += len(piece)
    return found
