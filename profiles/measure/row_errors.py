"""How far an output is from what it should be, row by row (the last axis), a piece at a time."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

ELEMENTS_AT_ONCE = 1 << 22  # widened to float64 at a time: 32 MiB, thrice
BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@dataclass(frozen=True, slots=True)
class RowErrors:
    """Of one output. `l2` [rows] is each row's L2 error in float64, no number where the row holds a NaN or infinity;
    `greatest` the greatest absolute difference of an element."""

    l2: Tensor
    greatest: float


def row_errors(output: Tensor, expected: Tensor) -> RowErrors:
    """`output` against `expected`, which is in float64 and of its shape. Needs three pieces of memory beside both, and
    a copy of the output where its rows do not lie together."""
    wanted = as_rows(expected)
    found = torch.empty(len(wanted), dtype=torch.float64, device=wanted.device)
    greatest = torch.zeros((), dtype=torch.float64, device=wanted.device)
    for rows, piece in pieces(as_rows(output)):
        difference = piece.double().sub_(wanted[rows])
        found[rows] = torch.linalg.vector_norm(difference, dim=-1)
        greatest = torch.maximum(greatest, difference.abs_().max())
    return RowErrors(found, float(greatest))


def row_norms(expected: Tensor) -> Tensor:
    """[rows]: each row's L2 norm in float64."""
    wanted = as_rows(expected)
    found = torch.empty(len(wanted), dtype=torch.float64, device=wanted.device)
    for rows, piece in pieces(wanted):
        found[rows] = torch.linalg.vector_norm(piece.double(), dim=-1)
    return found


def whole(rows: Tensor) -> float:
    """The L2 norm of everything, of the norms of its rows."""
    return float(torch.linalg.vector_norm(rows))


def as_rows(tensor: Tensor) -> Tensor:
    """[rows, width]"""
    return tensor.reshape(-1, tensor.shape[-1]) if tensor.dim() else tensor.reshape(1, 1)


def pieces(rows: Tensor) -> list[tuple[slice, Tensor]]:
    """Whole rows, together about ELEMENTS_AT_ONCE elements, and where they stand."""
    at_once = max(1, ELEMENTS_AT_ONCE // max(1, rows.shape[-1]))
    starts = range(0, len(rows), at_once)
    return [(slice(start, start + at_once), rows[start : start + at_once]) for start in starts]


def bits(tensor: Tensor) -> Tensor:
    """The same memory as whole numbers: NaN equals NaN there, and zero is not minus zero."""
    return tensor if not tensor.is_floating_point() else tensor.view(BITS[tensor.element_size()])
