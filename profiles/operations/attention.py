"""Attention: written out, and through torch's scaled_dot_product_attention with each of its backends."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from profiles import catalog
from profiles.ceilings import Costs
from profiles.operations import sdpa_backends, tolerance
from profiles.operations.implementation import within
from profiles.operations.random_inputs import TORCH_DTYPES, RandomInputs
from profiles.operations.sdpa_backends import Backend, Question, pinned
from profiles.operations.stages import marking, stage
from profiles.results import Receipt
from profiles.workload import Workload

STAGES = ("scores", "scale", "mask", "softmax", "values")
SCORES_AT_ONCE = 1 << 25  # float64 scores that the reference holds at a time: 256 MiB


@dataclass(frozen=True)
class Attention:
    """`mask` is true where a query must not look, None where every key is open; its making is never timed."""

    query: Tensor  # [batch, heads, seq_q, head_dim]
    key: Tensor  # [batch, kv_heads, seq_kv, head_dim]
    value: Tensor  # [batch, kv_heads, seq_kv, head_dim]
    mask: Tensor | None  # [seq_q, seq_kv]
    scale: float

    @property
    def grouped(self) -> bool:
        return self.query.shape[1] != self.key.shape[1]

    @cached_property
    def takes_fused(self) -> bool:
        """Whether torch, asked for no backend, takes a fused one; asked once, since the question is an operator."""
        return sdpa_backends.chosen(self.question) not in {None, Backend.MATH}

    @property
    def question(self) -> Question:
        return Question(self.query, self.key, self.value, causal=self.mask is not None, grouped=self.grouped)


def inputs(workload: Workload, device: torch.device) -> Attention:
    a = {name: int(value) for name, value in workload.axes.items()}
    random = RandomInputs(workload, device)
    return Attention(
        query=random.activations(a["batch"], a["heads"], a["seq_q"], a["head_dim"]),
        key=random.activations(a["batch"], a["kv_heads"], a["seq_kv"], a["head_dim"]),
        value=random.activations(a["batch"], a["kv_heads"], a["seq_kv"], a["head_dim"]),
        mask=_mask(a["seq_q"], a["seq_kv"], device) if a["causal"] else None,
        scale=1 / math.sqrt(a["head_dim"]),
    )


def _mask(seq_q: int, seq_kv: int, device: torch.device) -> Tensor:
    """Upper-left aligned: query i sees keys 0 … i, so that no row is ever masked whole."""
    return torch.ones(seq_q, seq_kv, dtype=torch.bool, device=device).triu(1)


def tiny(workload: Workload) -> Workload:
    """A small workload of the same dtype, head size, mask, grouping and relation of the lengths."""
    a = {name: int(value) for name, value in workload.axes.items()}
    seq_q, seq_kv = min(a["seq_q"], 128), min(a["seq_kv"], 128)
    if a["seq_q"] != a["seq_kv"] and seq_q == seq_kv:
        seq_q, seq_kv = (64, 128) if a["seq_q"] < a["seq_kv"] else (128, 64)
    small = {"batch": 1, "heads": a["heads"] // a["kv_heads"], "kv_heads": 1, "seq_q": seq_q, "seq_kv": seq_kv}
    return Workload(
        operation=workload.operation,
        axes={**workload.axes, **small},
        dtype=workload.dtype,
        distribution=workload.distribution,
        seed=workload.seed,
    )


def neighbour(workload: Workload) -> Workload:
    """The next length: of queries and keys where they are as many, else of the keys alone, as the next step decodes."""
    axis = "seq_q" if workload.axes["seq_q"] == workload.axes["seq_kv"] else "seq_kv"
    return catalog.at(workload, axis, int(workload.axes[axis]) + 1)


def resized(a: Attention, workload: Workload) -> Attention:
    return inputs(workload, a.query.device)


# --- implementations ------------------------------------------------------------------------------------------------


def naive(a: Attention) -> Tensor:
    """The mask is applied to a copy of the scores: on CUDA one more memcpy than `naive_inplace`."""
    scores = _scaled_scores(a)
    if a.mask is not None:
        with stage("mask"):
            scores = scores.masked_fill(a.mask, -math.inf)
    return _weighted_values(scores, a)


def naive_inplace(a: Attention) -> Tensor:
    scores = _scaled_scores(a)
    if a.mask is not None:
        with stage("mask"):
            scores.masked_fill_(a.mask, -math.inf)
    return _weighted_values(scores, a)


def sdpa_auto(a: Attention) -> Tensor:
    return _fused(a) if marking() and a.takes_fused else _sdpa(a)


@within(pinned(Backend.MATH))
def sdpa_math(a: Attention) -> Tensor:
    return _sdpa(a)  # several kernels, whose stages only torch knows: not marked


@within(pinned(Backend.FLASH))
def sdpa_flash(a: Attention) -> Tensor:
    return _fused(a)


@within(pinned(Backend.EFFICIENT))
def sdpa_efficient(a: Attention) -> Tensor:
    return _fused(a)


@within(pinned(Backend.CUDNN))
def sdpa_cudnn(a: Attention) -> Tensor:
    return _fused(a)


def _scaled_scores(a: Attention) -> Tensor:
    """[batch, heads, seq_q, seq_kv]. Heads that share a key are one longer matmul: a view, no copy of the keys."""
    batch, heads, seq_q, head_dim = a.query.shape
    kv_heads, seq_kv = a.key.shape[1:3]
    with stage("scores"):
        grouped = a.query.view(batch, kv_heads, -1, head_dim)
        scores = torch.matmul(grouped, a.key.transpose(-2, -1)).view(batch, heads, seq_q, seq_kv)
    with stage("scale"):
        return scores * a.scale


def _weighted_values(scores: Tensor, a: Attention) -> Tensor:
    """[batch, heads, seq_q, head_dim]"""
    batch, kv_heads, seq_kv, _ = a.value.shape
    with stage("softmax"):
        probabilities = torch.softmax(scores, dim=-1)
    with stage("values"):
        grouped = probabilities.view(batch, kv_heads, -1, seq_kv)
        return torch.matmul(grouped, a.value).view(a.query.shape)


def _fused(a: Attention) -> Tensor:
    with stage(*(STAGES if a.mask is not None else (s for s in STAGES if s != "mask"))):
        return _sdpa(a)


def _sdpa(a: Attention) -> Tensor:
    causal, grouped = a.mask is not None, a.grouped
    return scaled_dot_product_attention(a.query, a.key, a.value, is_causal=causal, enable_gqa=grouped)


# --- what is right, and what it costs -------------------------------------------------------------------------------


def reference(a: Attention) -> tuple[Tensor]:
    """Float64 throughout, from the same rounded inputs, a few query rows at a time."""
    return (torch.cat([_exact_rows(a, rows) for rows in _some_rows(a)], dim=2),)


def plain(a: Attention) -> tuple[Tensor]:
    """`naive`, a few query rows at a time: its rows do not depend on one another."""
    return (torch.cat([naive(_only(a, rows)) for rows in _some_rows(a)], dim=2),)


def _some_rows(a: Attention) -> list[slice]:
    batch, heads, seq_q, _ = a.query.shape
    rows = max(1, SCORES_AT_ONCE // (batch * heads * a.key.shape[2]))
    return [slice(start, start + rows) for start in range(0, seq_q, rows)]


def _only(a: Attention, rows: slice) -> Attention:
    query = a.query[:, :, rows].contiguous()
    return replace(a, query=query, mask=None if a.mask is None else a.mask[rows])


def _exact_rows(a: Attention, rows: slice) -> Tensor:
    group = a.query.shape[1] // a.key.shape[1]
    key = a.key.double().repeat_interleave(group, dim=1)
    scores = (a.query[:, :, rows].double() * a.scale) @ key.transpose(-2, -1)
    if a.mask is not None:
        scores.masked_fill_(a.mask[rows], -math.inf)
    return scores.softmax(dim=-1) @ a.value.double().repeat_interleave(group, dim=1)


def error_allowed(workload: Workload) -> float:
    return tolerance.of_dtype(workload.dtype)


def useful_flops(workload: Workload) -> int:
    """Two matmuls over the pairs that the mask leaves; softmax and scaling are not counted."""
    a = {name: int(value) for name, value in workload.axes.items()}
    return (
        4 * a["batch"] * a["heads"] * a["head_dim"] * unmasked_pairs(a["seq_q"], a["seq_kv"], causal=bool(a["causal"]))
    )


def unmasked_pairs(seq_q: int, seq_kv: int, *, causal: bool) -> int:
    """Of one head: query i sees keys 0 … i (upper-left aligned), or all of them."""
    if not causal:
        return seq_q * seq_kv
    triangle = min(seq_q, seq_kv)
    return triangle * (triangle + 1) // 2 + (seq_q - triangle) * seq_kv


def least_bytes(workload: Workload) -> int:
    """Query, key and value read once, the output written once."""
    a = {name: int(value) for name, value in workload.axes.items()}
    query, key = a["heads"] * a["seq_q"], a["kv_heads"] * a["seq_kv"]
    return 2 * (query + key) * a["batch"] * a["head_dim"] * TORCH_DTYPES[workload.dtype].itemsize


def costs(workload: Workload, implementation: str | None = None) -> Costs:
    """A fused kernel skips what the mask hides, whole tiles apart; torch's automatic choice is not known beforehand."""
    a = {name: int(value) for name, value in workload.axes.items()}
    least, size, causal = least_bytes(workload), TORCH_DTYPES[workload.dtype].itemsize, bool(a["causal"])
    output = a["batch"] * a["heads"] * a["seq_q"] * a["head_dim"] * size
    rows = a["batch"] * a["heads"]
    pairs = unmasked_pairs(a["seq_q"], a["seq_kv"], causal=causal)
    whole = 4 * rows * a["head_dim"] * a["seq_q"] * a["seq_kv"]
    touched = _scores_touched(implementation, causal=causal)
    return Costs(
        least_bytes=least,
        read_bytes=least - output,
        moved_bytes=None if touched is None else least + touched * rows * a["seq_q"] * a["seq_kv"] * size,
        useful_flops=useful_flops(workload),
        executed_flops=_executed_flops(implementation, whole, useful_flops(workload)),
        exponentials=rows * pairs,
    )


def _scores_touched(implementation: str | None, *, causal: bool) -> int | None:
    """How often all scores are written or read: by the first matmul, the scale, the mask, the softmax, the second
    matmul. The fused kernels never write them."""
    match implementation:
        case "naive":
            return 10 if causal else 6
        case "naive_inplace":
            return 8 if causal else 6
        case "sdpa_flash" | "sdpa_efficient" | "sdpa_cudnn":
            return 0
    return None


def _executed_flops(implementation: str | None, whole: int, useful: int) -> int | None:
    match implementation:
        case "naive" | "naive_inplace" | "sdpa_math":
            return whole
        case "sdpa_flash" | "sdpa_efficient" | "sdpa_cudnn":
            return useful
    return whole if whole == useful else None


def tokens(workload: Workload) -> int | None:  # noqa: ARG001 - every operation is asked
    """None: one attention of one layer processes no tokens to the end."""
    return None


def receipt(implementation: str, a: Attention) -> Receipt | None:
    """None for the variants that ask torch for no backend."""
    _, sdpa, asked = implementation.partition("sdpa_")
    return sdpa_backends.receipt(asked, a.question) if sdpa else None
