"""Torch's attention backends: which it would take, and why not the others. Torch's private doors stay in here."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from profiles.operations.torch_reasons import first_reason, warnings_heard
from profiles.operations.versions import versions
from profiles.results import Receipt


class Backend(StrEnum):
    MATH = "math"
    FLASH = "flash"
    EFFICIENT = "efficient"
    CUDNN = "cudnn"


AUTO = "auto"
FUSED = (Backend.FLASH, Backend.EFFICIENT, Backend.CUDNN)
TORCH_NAMES = {
    Backend.MATH: SDPBackend.MATH,
    Backend.FLASH: SDPBackend.FLASH_ATTENTION,
    Backend.EFFICIENT: SDPBackend.EFFICIENT_ATTENTION,
    Backend.CUDNN: SDPBackend.CUDNN_ATTENTION,
}
TITLES = {Backend.FLASH: "flash", Backend.EFFICIENT: "memory-efficient", Backend.CUDNN: "cuDNN", Backend.MATH: "math"}
ON_CPU = (Backend.MATH, Backend.FLASH)
NO_REASON = "torch gives no reason"


@dataclass(frozen=True, slots=True)
class Question:
    """One call of scaled_dot_product_attention, as the choice of a backend sees it."""

    query: Tensor
    key: Tensor
    value: Tensor
    causal: bool = field(kw_only=True)
    grouped: bool = field(kw_only=True)
    mask: Tensor | None = field(default=None, kw_only=True)
    dropout: float = field(default=0.0, kw_only=True)


def pinned(backend: Backend) -> Callable[[Any], AbstractContextManager[object]]:
    """A context in which torch has this backend alone: it runs or raises, it never falls back."""
    return lambda _: sdpa_kernel([TORCH_NAMES[backend]])


def receipt(asked: str, question: Question, *, packages: tuple[str, ...] = ()) -> Receipt:
    """What was asked for, what torch's own choice says runs, and why each fused backend would not.

    A pinned backend runs or raises; the kernels of the trace have the last word on both. `packages` have a say in the
    choice too: their versions are noted beside torch's and cuDNN's.
    """
    reasons = refusals(question)
    ran = chosen(question) if asked == AUTO else Backend(asked) if asked not in reasons else None
    fell_back = asked == AUTO and ran is Backend.MATH
    return Receipt(
        asked=asked,
        ran=ran,
        fell_back=fell_back,
        order=priority(question),
        refusals=reasons,
        detail=_why_math(reasons) if fell_back else None,
        versions=versions(*packages, cudnn=question.query.device.type == "cuda"),
    )


def _why_math(reasons: dict[str, str]) -> str:
    told = "; ".join(f"{TITLES[Backend(name)]}: {reason}" for name, reason in reasons.items())
    return f"no fused backend takes this call, and plain operators ran instead ({told})"


def chosen(question: Question) -> Backend | None:
    """What torch would take, or None where this torch does not tell."""
    choose = getattr(torch, "_fused_sdp_choice", None)
    if choose is None:
        return None
    q, k, v = question.query, question.key, question.value
    mask, dropout = question.mask, question.dropout
    return _backend(choose(q, k, v, mask, dropout, question.causal, enable_gqa=question.grouped))


def priority(question: Question) -> tuple[str, ...] | None:
    """The order in which torch tries them on CUDA; None on a CPU, which has none, or where this torch does not tell.

    The order of this device and cuDNN is set by a process's first choice (`priority_order` in ATen's sdp_utils.cpp):
    asked before, torch tells the one that it was built with. So a choice is made first.
    """
    order = getattr(torch._C, "_get_sdp_priority_order", None)
    if order is None or question.query.device.type != "cuda":
        return None
    chosen(question)
    return tuple(backend for number in order() if (backend := _backend(number)) is not None)


def _backend(number: int) -> Backend | None:
    return next((backend for backend, name in TORCH_NAMES.items() if int(name.value) == int(number)), None)


def refusals(question: Question) -> dict[str, str]:
    """The first reason of each fused backend that is not eligible."""
    reasons = {backend: _why_not(backend, question) for backend in FUSED}
    return {str(backend): reason for backend, reason in reasons.items() if reason is not None}


def _why_not(backend: Backend, question: Question) -> str | None:
    if question.query.device.type != "cuda":
        return _why_not_on_cpu(backend, question)
    can_use = getattr(torch.backends.cuda, f"can_use_{backend}_attention", None)
    if can_use is None:
        return f"this torch ({torch.__version__}) has no {TITLES[backend]} attention"
    with warnings_heard() as heard:
        eligible = can_use(_parameters(question), debug=True)
    return None if eligible else first_reason(heard) or NO_REASON


def _why_not_on_cpu(backend: Backend, question: Question) -> str | None:
    """There torch checks a backend only as part of its choice, and says why not where it has no other."""
    if backend not in ON_CPU:
        return f"torch has no {TITLES[backend]} attention for CPU tensors"
    with warnings_heard() as heard:
        try:
            with sdpa_kernel([TORCH_NAMES[backend]]):
                taken = chosen(question)
        except RuntimeError:  # "No available kernel", and the reasons as warnings
            taken = None
    return None if taken is backend else first_reason(heard) or NO_REASON


def _parameters(question: Question) -> Any:
    q, k, v = question.query, question.key, question.value
    mask, dropout = question.mask, question.dropout
    return torch.backends.cuda.SDPAParams(q, k, v, mask, dropout, question.causal, question.grouped)
