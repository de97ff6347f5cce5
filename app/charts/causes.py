"""A kernel's name, and what launched it as lines beneath it: calls, operators, modules, lines; whether inferred."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from app.charts.markup import cut_in_the_middle, full_name
from profiles.trace.printable import printable

MOST_TOLD = 6
INFERRED = "inferred from an uncaptured pass"


def kernel_html(short_name: str, name: str, causes: str = "") -> str:
    """The short name, which opens to the whole one with its template parameters, and to its causes."""
    short, whole = escape(printable(short_name)), full_name(name)
    if short == whole and not causes:
        return f'<code class="fs-kernel">{short}</code>'
    summary = f'<summary title="{whole}"><code class="fs-kernel">{short}</code></summary>'
    return f'<details class="fs-whole-name">{summary}<code>{whole}</code>{causes}</details>'


def causes_html(
    operators: Sequence[str],
    modules: Sequence[str],
    sources: Sequence[str],
    *,
    inferred: bool,
    launch_calls: Sequence[str] = (),
    on_cpu: bool = False,
) -> str:
    """Empty where nothing is told. On a CPU, `operators` are around the operator itself."""
    words = (
        ("within" if on_cpu else "launched by", operators),
        ("through" if operators else "launched through", launch_calls),
        ("in module", modules),
        ("at", sources),
    )
    told = "".join(f"<span>{word} {_listed(found)}</span>" for word, found in words if found)
    return f"{told}<span>{INFERRED}</span>" if told and inferred else told


def _listed(found: Sequence[str]) -> str:
    left = len(found) - MOST_TOLD
    shown = ", ".join(map(cut_in_the_middle, found[:MOST_TOLD]))
    return f"{shown} and {left:,} more" if left > 0 else shown
