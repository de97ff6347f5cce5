"""Memory full of NaN, so that an element that a call never writes cannot be right by what an earlier call left there.

All bits are set: a NaN in each floating-point dtype, and one that arithmetic seldom makes by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from profiles.measure.row_errors import as_rows, bits, pieces

BLOCKS_OF_A_SIZE = 4
LARGEST_SMALL = 1 << 20  # kSmallSize of torch's CUDA allocator
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

    On CUDA also every block that the caching allocator then holds free: workspaces of earlier calls, and the rest of
    what it took from the device for the outputs. A CPU's allocator gives large blocks back to the system, which hands
    out zeros.
    """
    on_gpu = device.type == "cuda"
    wanted = [size for size in sizes for _ in range(BLOCKS_OF_A_SIZE)]
    held = _filled(wanted if on_gpu else wanted + _workspaces(sum(sizes)), device)
    if on_gpu:
        held += _filled(_free_blocks(device), device)


def _filled(sizes: Iterable[int], device: torch.device) -> list[Tensor]:
    """The largest first: the allocator gives each the smallest block that holds it."""
    held: list[Tensor] = []
    for size in sorted(sizes, reverse=True):
        try:
            held.append(torch.empty(size, dtype=torch.uint8, device=device).fill_(255))
        except (torch.OutOfMemoryError, RuntimeError):  # no memory left: then none was left unpoisoned
            break
    return held


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
    """Sizes to ask torch's allocator for in order to be given all that it holds free for this stream."""
    snapshot: Any = torch.cuda.memory_snapshot  # has no types
    stream = torch.cuda.current_stream(device).cuda_stream
    return free_sizes(snapshot(), device_index=device.index or 0, stream=stream)


def free_sizes(segments: Iterable[Mapping[str, Any]], *, device_index: int, stream: int) -> list[int]:
    """Of the allocator's segments; those of captured graphs and of other streams are not handed out to this one.

    A segment of small blocks serves only requests of up to 1 MiB: what is free in one piece there is asked for in
    several.
    """
    sizes: list[int] = []
    for segment in segments:
        pool, there = segment.get("segment_pool_id", (0, 0)), segment.get("stream", stream)
        if segment["device"] != device_index or tuple(pool) != (0, 0) or there != stream:
            continue
        most = LARGEST_SMALL if segment.get("segment_type") == "small" else None
        for block in segment["blocks"]:
            if block["state"] == "inactive":
                sizes += _at_most(int(block["size"]), most)
    return sizes


def _at_most(size: int, most: int | None) -> list[int]:
    if most is None:
        return [size]
    whole, rest = divmod(size, most)
    return [most] * whole + ([rest] if rest else [])


def _workspaces(output_bytes: int) -> list[int]:
    largest = min(LARGEST_WORKSPACE, 4 * output_bytes)
    sizes = []
    size = SMALLEST_WORKSPACE
    while size <= largest:
        sizes.append(size)
        size *= 2
    return sizes
