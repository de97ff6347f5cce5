"""Receipts of what was asked of torch.compile and of CUDA graphs: both fall back to eager calls without a word."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from profiles.compilation import Compilation
from profiles.operations.versions import versions
from profiles.results import Receipt
from profiles.variant import Execution, parse_variant

INDUCTOR, EAGER, BOTH = "inductor", "eager", "inductor and eager"
REPLAYED, LAUNCHED = "graph replay", "single launches"


def dispatch_receipts(variant: str, compilation: Compilation | None) -> tuple[Receipt, ...]:
    """By what torch said; the traced pass has the last word on them."""
    return tuple(_receipts(parse_variant(variant).execution, compilation))


def _receipts(execution: Execution, compilation: Compilation | None) -> Iterator[Receipt]:
    if compilation is not None:
        yield compile_receipt(compilation)
    # Only a process that measures on a GPU has initialised CUDA.
    if execution.needs_graphs or (execution.asks_for_graphs and torch.cuda.is_initialized()):  # type: ignore[no-untyped-call]
        yield graph_receipt(compilation.graph_skips if compilation is not None else ())


def compile_receipt(compilation: Compilation) -> Receipt:
    why = _why_eager(compilation)
    ran = EAGER if compilation.graphs == 0 else BOTH if why is not None else INDUCTOR
    return Receipt(
        mechanism="compile",
        asked=INDUCTOR,
        ran=ran,
        fell_back=why is not None,
        refusals={} if why is None else {INDUCTOR: why},
        detail=why,
        versions=versions("triton"),
    )


def graph_receipt(skips: tuple[str, ...]) -> Receipt:
    """`skips` are torch's reasons; a capture of our own has none, it runs or is refused."""
    return Receipt(
        mechanism="cuda_graph",
        asked=REPLAYED,
        ran=LAUNCHED if skips else REPLAYED,
        fell_back=bool(skips),
        refusals={REPLAYED: "; ".join(skips)} if skips else {},
        detail=f"CUDA graphs were skipped: {'; '.join(skips)}" if skips else None,
        versions=versions(),
    )


def _why_eager(compilation: Compilation) -> str | None:
    """Why some of a call, or all of it, is no compiled code; None where nothing says so."""
    if compilation.limit_hit:
        guard = f"; the last guard to fail: {compilation.recompiles[-1].guard}" if compilation.recompiles else ""
        return f"the recompile limit was reached, and calls that no compiled code fits run eagerly{guard}"
    if compilation.breaks:
        first, number = compilation.breaks[0], len(compilation.breaks)
        where = f" ({first.where})" if first.where else ""
        breaks = "a graph break" if number == 1 else f"{number} graph breaks, the first one"
        between = "nothing was compiled" if compilation.graphs == 0 else "what lies between the graphs runs eagerly"
        return f"{between}: {breaks}{where}: {first.reason}"
    return "torch compiled no graph, and gives no reason" if compilation.graphs == 0 else None
