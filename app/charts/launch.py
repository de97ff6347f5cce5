"""How a kernel was launched: compact in the kernel list, all of it on hover."""

from __future__ import annotations

import math
from html import escape

from app.charts.markup import missing
from profiles.comparison.figures import whole_percent
from profiles.results import KernelUse, Role

KIB = 1 << 10


def launch_cell(use: KernelUse) -> str:
    """`132 × 384 · 168`: blocks, threads in each, registers of each thread."""
    if use.grid is None or use.block is None:
        copies = use.role in (Role.COPY, Role.FILL) and use.registers is None
        return missing("copies and fills of the driver are not launched as kernels are" if copies else NOT_TOLD)
    registers = "" if use.registers is None else f" · {use.registers:,}"
    shape = f"{math.prod(use.grid):,} × {math.prod(use.block):,}"
    return f'<span class="fs-nowrap" title="{escape(launch_words(use))}">{shape}{registers}</span>'


NOT_TOLD = "the trace does not tell how it was launched"


def launch_words(use: KernelUse) -> str:
    """Of its longest call: `grid 8×12×1, block 384×1×1, 168 registers a thread, 192.5 KiB of shared memory a block`."""
    known = [
        None if use.grid is None else f"grid {'×'.join(map(str, use.grid))}",
        None if use.block is None else f"block {'×'.join(map(str, use.block))}",
        None if use.registers is None else f"{use.registers:,} registers a thread",
        None if use.shared_bytes is None else f"{use.shared_bytes / KIB:,.1f} KiB of shared memory a block",
        "occupancy not reported" if use.occupancy is None else f"about {whole_percent(use.occupancy)} occupancy",
    ]
    return ", ".join(word for word in known if word is not None)
