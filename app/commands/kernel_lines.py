"""The list of a recording's kernels, with what launched them, as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from app.commands.output import table
from profiles.comparison.figures import prose_time
from profiles.trace.kernel_table import KernelRow
from profiles.trace.printable import printable

OPERATORS, LONGEST = 3, 80
CAUSE_START, CAUSE_END = 16, 43  # characters of a module's path or a line of code that stay when its middle goes


def kernel_lines(kernels: Sequence[KernelRow], *, doubt: str) -> list[str]:
    """`doubt` marks the times. Columns of what the file tells nothing of are left out."""
    always = [
        ("kernel", False, [row.short_name for row in kernels]),
        ("role", False, [str(row.role) for row in kernels]),
        ("calls", True, [f"{row.calls:,}" for row in kernels]),
        ("in all", True, [prose_time(row.total_ns) + doubt for row in kernels]),
        ("launched by", False, [printable(", ".join(row.launched_by[:OPERATORS])[:LONGEST]) for row in kernels]),
    ]
    where_told = [
        ("through", False, [printable(", ".join(row.launch_calls[:OPERATORS])[:LONGEST]) for row in kernels]),
        ("in module", False, [_first(row.modules) for row in kernels]),
        ("at", False, [_first(row.sources) for row in kernels]),
        ("inferred", False, [_inferred(row) for row in kernels]),
    ]
    titles, right, columns = zip(*always, *(told for told in where_told if any(told[2])), strict=True)
    return table(titles, list(zip(*columns, strict=True)), right=right)


def _first(found: tuple[str, ...]) -> str:
    """The most frequent, without its middle where it is long, and how many others there are."""
    if not found:
        return ""
    text, more = printable(found[0]), f" +{len(found) - 1}" if len(found) > 1 else ""
    if len(text) > CAUSE_START + CAUSE_END + 1:
        text = f"{text[:CAUSE_START]}…{text[-CAUSE_END:]}"
    return text + more


def _inferred(row: KernelRow) -> str:
    """Of how many calls an uncaptured pass of the same kernels tells the causes."""
    return f"{row.inferred:,} of {row.calls:,}" if row.inferred else ""
