"""What ran, by the traced pass: it has the last word on what torch said that it would do."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from profiles.compilation import Compilation
from profiles.results import Counts, KernelUse, Receipt, Role

AUTO = "auto"
MATH = "math"
_GRAPH_NUMBER = re.compile(r"^graph_\d+_")  # inductor's C++ kernels carry their graph's number in a record
# In this order: cuDNN's generated kernels say "flash" too.
_BACKENDS = (
    ("cudnn", re.compile(r"cudnn", re.IGNORECASE)),
    ("efficient", re.compile(r"fmha_cutlass|efficient_attention")),
    ("flash", re.compile(r"flash", re.IGNORECASE)),
)


def confirm(receipt: Receipt, kernels: Sequence[KernelUse]) -> Receipt:
    """The receipt with what the kernels show; as it was where they show nothing."""
    seen = _backend_of(kernels)
    if seen is None or seen == receipt.ran:
        return receipt
    told = "torch did not say" if receipt.ran is None else f"torch's choice was {receipt.ran}"
    return msgspec.structs.replace(
        receipt,
        ran=seen,
        fell_back=receipt.fell_back or (seen != receipt.asked if receipt.asked != AUTO else seen == MATH),
        detail=f"the kernels are those of {seen}; {told}",
    )


def confirm_dispatch(
    receipts: Sequence[Receipt], *, compilation: Compilation | None, kernels: Sequence[KernelUse], counts: Counts
) -> tuple[Receipt, ...]:
    """The receipts of compilers and graphs, by the names of the kernels and by the graphs that were launched."""
    return tuple(_confirmed(receipt, compilation, kernels, counts) for receipt in receipts)


def _confirmed(
    receipt: Receipt, compilation: Compilation | None, kernels: Sequence[KernelUse], counts: Counts
) -> Receipt:
    if receipt.mechanism == "compile" and compilation is not None:
        return _by_generated_kernels(receipt, {kernel.name for kernel in compilation.kernels}, kernels)
    if receipt.mechanism == "cuda_graph" and counts.graph_launches is not None:
        return _by_graph_launches(receipt, counts.graph_launches)
    return receipt


def _by_generated_kernels(receipt: Receipt, generated: set[str], kernels: Sequence[KernelUse]) -> Receipt:
    """Code without a kernel of its own (matmuls alone) leaves nothing to look for."""
    if receipt.ran == "eager" or not generated or not kernels:
        return receipt
    if any(_GRAPH_NUMBER.sub("", use.name) in generated for use in kernels):
        return receipt
    return msgspec.structs.replace(
        receipt,
        ran="eager",
        fell_back=True,
        detail=receipt.detail or f"none of the {len(generated)} generated kernels was seen in the traced pass",
    )


def _by_graph_launches(receipt: Receipt, launched: int) -> Receipt:
    if launched:
        partly = f"{receipt.asked} and single launches" if receipt.fell_back else receipt.asked
        return msgspec.structs.replace(receipt, ran=partly)
    return msgspec.structs.replace(
        receipt,
        ran="single launches",
        fell_back=True,
        detail=receipt.detail or "no graph was launched in the traced pass",
    )


def _backend_of(kernels: Sequence[KernelUse]) -> str | None:
    attention = [use for use in kernels if use.role is Role.ATTENTION]
    for backend, pattern in _BACKENDS:
        if any(pattern.search(use.name) for use in attention):
            return backend
    composed = not attention and any(use.role is Role.GEMM for use in kernels)
    return MATH if composed else None
