"""The deep profile of one run: how near each kernel is to the device's peaks, what it moved; or why there is none."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from app.charts.markup import full_name, missing
from profiles.comparison.figures import prose_time
from profiles.comparison.rates import amount
from profiles.results import DeepKernel, DeepProfile
from profiles.trace.names import short_name

HEADS = ("Time", "Compute", "Memory", "DRAM read", "written", "Occupancy", "Registers")
NOT_COUNTED = "this device or version does not count it"


def deep_html(deep: DeepProfile) -> str:
    """Folded: most readers come for the kernels' times."""
    if deep.failure is not None:
        said = f"<b>Nsight Compute</b> told nothing: {escape(deep.failure)}"
        return f'<div class="fs"><p class="fs-alike">{said}</p></div>'
    heads = "".join(f'<th class="num">{name}</th>' for name in HEADS)
    rows = "".join(_row(kernel) for kernel in deep.kernels)
    table = f'<table class="fs-kernels"><thead><tr><th>Kernel</th>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    summary = f"<summary>Deep profile by {escape(deep.tool)}: {_counted(deep)}, shares of the device’s peaks</summary>"
    return f'<div class="fs"><details class="fs-fold">{summary}<div class="fs-scroll">{table}</div></details></div>'


def _counted(deep: DeepProfile) -> str:
    return "1 kernel" if len(deep.kernels) == 1 else f"{len(deep.kernels):,} kernels"


def _row(kernel: DeepKernel) -> str:
    cells = (
        _cell(kernel.duration_ns, prose_time),
        _cell(kernel.compute_percent, _percent),
        _cell(kernel.memory_percent, _percent),
        _cell(kernel.dram_read_bytes, _bytes),
        _cell(kernel.dram_written_bytes, _bytes),
        _cell(kernel.occupancy_percent, _percent),
        _cell(kernel.registers, lambda number: f"{number:,.0f}"),
    )
    name = f'<code class="fs-kernel" title="{full_name(kernel.name)}">{escape(short_name(kernel.name))}</code>'
    return f'<tr><th scope="row">{name}</th>{"".join(cells)}</tr>'


def _cell(value: float | None, write: Callable[[float], str]) -> str:
    return f'<td class="num">{missing(NOT_COUNTED) if value is None else write(value)}</td>'


def _percent(value: float) -> str:
    return f"{value:.1f} %"


def _bytes(value: float) -> str:
    return amount(value, "B")
