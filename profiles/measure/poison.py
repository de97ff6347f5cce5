"""Memory full of NaN, so that an element that a call never writes cannot be right by what an earlier call left there.

All bits are set: a NaN in each floating-point dtype, and one that arithmetic seldom makes by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from profiles.measure.row_errors import as_rows, bits, pieces

BLOCKS_OF_A_SIZE = 4
SMALLEST_WORKSPACE = 1 << 12
LARGEST_WORKSPACE = 1 << 24  # on a CPU, where nobody tells what sizes a call frees


def poison_outputs(outputs: Iterable[Tensor], *, spare: Iterable[Tensor]) -> None:
    """Fill the memory behind the outputs, that of `spare` (the inputs) excepted."""
    kept = {tensor.untyped_storage().data_ptr() for tensor in spare}
    for output in outputs:
        if output.untyped_storage().data_ptr() not in kept:
            _all_of(output).fill_(255)


def poison_free_memory(sizes: Sequence[int], device: torch.device) -> None:
    """Fill blocks that the next call is likely to be given, and free them: `sizes` are its outputs', in bytes.

    On CUDA also every block that the caching allocator holds free, the workspaces of earlier calls among them. A CPU's
    allocator gives large blocks back to the system, which hands out zeros.
    """
    wanted = [size for size in sizes for _ in range(BLOCKS_OF_A_SIZE)]
    wanted += _free_blocks(device) if device.type == "cuda" else _workspaces(sum(sizes))
    held = []
    for size in sorted(wanted, reverse=True):
        try:
            held.append(torch.empty(size, dtype=torch.uint8, device=device).fill_(255))
        except (torch.OutOfMemoryError, RuntimeError):  # no memory left: then none was left unpoisoned
            break


def unwritten_rows(output: Tensor) -> int:
    """Rows that hold the poison."""
    count = 0
    for _, piece in pieces(as_rows(output)):
        count += int((bits(piece) == -1).any(dim=-1).sum())
    return count


def _all_of(tensor: Tensor) -> Tensor:
    """The whole storage behind a tensor as bytes, whatever part of it the tensor shows."""
    return torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(tensor.untyped_storage())


def _free_blocks(device: torch.device) -> list[int]:
    """Sizes of the blocks that torch's allocator holds free, those of captured graphs excepted."""
    snapshot: Any = torch.cuda.memory_snapshot  # has no types
    segments = snapshot()
    return [
        int(block["size"])
        for segment in segments
        if segment["device"] == device.index and segment.get("segment_pool_id", (0, 0)) == (0, 0)
        for block in segment["blocks"]
        if block["state"] == "inactive"
    ]


def _workspaces(output_bytes: int) -> list[int]:
    largest = min(LARGEST_WORKSPACE, 4 * output_bytes)
    sizes = []
    size = SMALLEST_WORKSPACE
    while size <= largest:
        sizes.append(size)
        size *= 2
    return sizes
