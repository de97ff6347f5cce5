"""What was asked of whom in a run, and what fell back: the receipts of every mechanism, read alike."""

from __future__ import annotations

from profiles.results import Receipt, Run

MECHANISMS = {"sdpa": "SDPA", "compile": "torch.compile", "cuda_graph": "CUDA graphs", "kernelize": "kernelize"}
BACKENDS = {"cudnn": "cuDNN"}


def receipts(run: Run) -> tuple[Receipt, ...]:
    """The attention backend's first, then compilers', graphs' and hub kernels'."""
    return (*([] if run.receipt is None else [run.receipt]), *run.dispatch)


def fallen(run: Run) -> tuple[Receipt, ...]:
    """Those whose choice fell back to something worse than what was asked for."""
    return tuple(receipt for receipt in receipts(run) if receipt.fell_back)


def mechanism(receipt: Receipt) -> str:
    """Who chose, as its makers write it."""
    return MECHANISMS.get(receipt.mechanism, receipt.mechanism)


def backend(name: str) -> str:
    """A backend as its makers write it."""
    return BACKENDS.get(name, name)


def fall(receipt: Receipt) -> str:
    """`asked for graph replay, ran single launches (CUDA graphs were skipped: …)`."""
    why = f" ({receipt.detail})" if receipt.detail else ""
    return f"asked for {backend(receipt.asked)}, ran {backend(receipt.ran or 'something else')}{why}"
