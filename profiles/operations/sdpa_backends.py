"""Torch's attention backends: which it would take, and why not the others. Torch's private doors stay in here."""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

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


@dataclass(frozen=True, slots=True)
class Question:
    """One call of scaled_dot_product_attention, as the choice of a backend sees it."""

    query: Tensor
    key: Tensor
    value: Tensor
    causal: bool = field(kw_only=True)
    grouped: bool = field(kw_only=True)


def pinned(backend: Backend) -> Callable[[Any], AbstractContextManager[object]]:
    """A context in which torch has this backend alone: it runs or raises, it never falls back."""
    return lambda _: sdpa_kernel([TORCH_NAMES[backend]])


def receipt(asked: str, question: Question) -> Receipt:
    """What was asked for, what torch's own choice says runs, and why each fused backend would not.

    A pinned backend runs or raises; the kernels of the trace have the last word on both.
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
        detail="no fused backend is eligible: the choice fell to plain operators" if fell_back else None,
    )


def chosen(question: Question) -> Backend | None:
    """What torch would take, or None where this torch does not tell."""
    choose = getattr(torch, "_fused_sdp_choice", None)
    if choose is None:
        return None
    q, k, v = question.query, question.key, question.value
    return _backend(choose(q, k, v, None, 0.0, question.causal, enable_gqa=question.grouped))


def priority(question: Question) -> tuple[str, ...] | None:
    """The order in which torch tries them on CUDA; None on a CPU, which has none, or where this torch does not tell."""
    order = getattr(torch._C, "_get_sdp_priority_order", None)
    if order is None or question.query.device.type != "cuda":
        return None
    return tuple(backend for number in order() if (backend := _backend(number)) is not None)


def _backend(number: int) -> Backend | None:
    return next((backend for backend, name in TORCH_NAMES.items() if int(name.value) == int(number)), None)


def refusals(question: Question) -> dict[str, str]:
    """The first reason of each fused backend that is not eligible."""
    reasons = {backend: _why_not(backend, question) for backend in FUSED}
    return {str(backend): reason for backend, reason in reasons.items() if reason is not None}


def _why_not(backend: Backend, question: Question) -> str | None:
    if question.query.device.type != "cuda":
        return None if backend in ON_CPU else f"torch has no {TITLES[backend]} attention for CPU tensors"
    can_use = getattr(torch.backends.cuda, f"can_use_{backend}_attention", None)
    if can_use is None:
        return f"this torch ({torch.__version__}) has no {TITLES[backend]} attention"
    with _warnings_heard() as heard:
        eligible = can_use(_parameters(question), debug=True)
    return None if eligible else first_reason(heard) or "torch gives no reason"


def _parameters(question: Question) -> Any:
    q, k, v = question.query, question.key, question.value
    return torch.backends.cuda.SDPAParams(q, k, v, None, 0.0, question.causal, question.grouped)


@contextmanager
def _warnings_heard() -> Iterator[list[str]]:
    """Torch says why on file descriptor 2 or through Python's warnings, by version and by call: both are heard."""
    heard: list[str] = []
    with tempfile.TemporaryFile() as file, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stderr = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield heard
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
            file.seek(0)
            heard += file.read().decode(errors="replace").splitlines()
            heard += [str(warning.message) for warning in caught]


# A heading ("Flash attention kernel not used because:") or what pinning one backend does to the others.
_NO_REASON = re.compile(r"not used because|runtime disabled|^\s*$", re.IGNORECASE)
_BEFORE = re.compile(r"^\[W.*?\]\s*(Warning:\s*)?|^Warning:\s*")
_AFTER = re.compile(r"\s*\((Triggered internally at|function )[^)]*\)*\s*$")


def first_reason(heard: list[str]) -> str | None:
    """The first thing that says why, without the logger's frame; None where nothing does."""
    bare = (_AFTER.sub("", _BEFORE.sub("", line)).strip() for line in heard)
    return next((line for line in bare if not _NO_REASON.search(line)), None)
