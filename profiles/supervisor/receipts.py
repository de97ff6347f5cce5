"""Which attention backend ran, by the kernels seen: they have the last word on what torch said it would take."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from profiles.results import KernelUse, Receipt, Role

AUTO = "auto"
MATH = "math"
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


def _backend_of(kernels: Sequence[KernelUse]) -> str | None:
    attention = [use for use in kernels if use.role is Role.ATTENTION]
    for backend, pattern in _BACKENDS:
        if any(pattern.search(use.name) for use in attention):
            return backend
    composed = not attention and any(use.role is Role.GEMM for use in kernels)
    return MATH if composed else None
