"""What launched a kernel, as lines beneath its name: calls, operators, modules, lines; whether that is inferred."""

from __future__ import annotations

from collections.abc import Sequence

from app.charts.markup import cut_in_the_middle

MOST_TOLD = 6
INFERRED = "inferred from an uncaptured pass"


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
