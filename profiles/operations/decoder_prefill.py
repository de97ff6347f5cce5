"""Prefill of a transformers decoder with random weights: hidden states of every token, logits of the last ones.

That is what a server computes before the first new token, without the copy into a key-value cache.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from profiles import catalog
from profiles.ceilings import Costs
from profiles.operations import sdpa_backends, tolerance
from profiles.operations.attention import unmasked_pairs
from profiles.operations.decoder_config import DecoderConfig, config_facts, decoder_config
from profiles.operations.exact import in_float64
from profiles.operations.implementation import UnsupportedError, within
from profiles.operations.random_inputs import TORCH_DTYPES, RandomInputs
from profiles.operations.sdpa_calls import questions_of
from profiles.results import Receipt
from profiles.workload import Distribution, Workload


@dataclass(frozen=True, slots=True)
class DecoderPrefill:
    """`model` is a transformers causal language model in evaluation mode.

    The mask is made beforehand, as transformers' `generate` does it: making it inside would stop the host on the way.
    """

    model: Any
    tokens: Tensor  # [batch, seq]
    mask: Tensor  # [1, 1, seq, seq], what the written-out attention adds to its scores


def inputs(workload: Workload, device: torch.device) -> DecoderPrefill:
    """Weights by transformers' own initialisation (normal, 0.02) from the workload's seed; uniform token ids."""
    if workload.distribution is not Distribution.NORMAL:
        raise UnsupportedError(
            f"a decoder's weights are drawn 'normal', the workload asks for {str(workload.distribution)!r}"
        )
    transformers: Any = importlib.import_module("transformers")  # takes seconds, of use here alone
    config = transformers.AutoConfig.for_model(**config_facts(str(workload.axes["model"])))
    torch.manual_seed(workload.seed)
    with device:
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=TORCH_DTYPES[workload.dtype])
    model.requires_grad_(False)
    batch, seq = int(workload.axes["batch"]), int(workload.axes["seq"])
    return DecoderPrefill(
        model=model.to(device).eval(),
        tokens=RandomInputs(workload, device).tokens(batch, seq, vocabulary=_config(workload).vocab_size),
        mask=_mask(seq, dtype=TORCH_DTYPES[workload.dtype], device=device),
    )


def _mask(seq: int, *, dtype: torch.dtype, device: torch.device) -> Tensor:
    lowest = torch.finfo(dtype).min
    return torch.full((1, 1, seq, seq), lowest, dtype=dtype, device=device).triu(1)


def tiny(workload: Workload) -> Workload:
    """The smallest shipped model: whether transformers works here with this dtype and attention."""
    return Workload(
        operation=workload.operation,
        axes={"model": "tiny", "batch": 1, "seq": min(16, int(workload.axes["seq"]))},
        dtype=workload.dtype,
        distribution=workload.distribution,
        seed=workload.seed,
    )


def neighbour(workload: Workload) -> Workload:
    return catalog.at(workload, "seq", int(workload.axes["seq"]) + 8)


def resized(p: DecoderPrefill, workload: Workload) -> DecoderPrefill:
    """The same model with other tokens: no walked axis changes the weights."""
    batch, seq, device = int(workload.axes["batch"]), int(workload.axes["seq"]), p.tokens.device
    return replace(
        p,
        tokens=RandomInputs(workload, device).tokens(batch, seq, vocabulary=_config(workload).vocab_size),
        mask=_mask(seq, dtype=TORCH_DTYPES[workload.dtype], device=device),
    )


def _attention(name: str) -> Callable[[DecoderPrefill], AbstractContextManager[None]]:
    @contextmanager
    def chosen(p: DecoderPrefill) -> Iterator[None]:
        before = p.model.config._attn_implementation
        p.model.set_attn_implementation(name)
        if p.model.config._attn_implementation != name:
            raise UnsupportedError(f"transformers does not let this model use {name!r} attention")
        try:
            yield
        finally:
            p.model.set_attn_implementation(before)

    return chosen


@within(_attention("eager"))
def eager(p: DecoderPrefill) -> tuple[Tensor, Tensor]:
    return _prefill(p.model, p.tokens, p.mask)


@within(_attention("sdpa"))
def sdpa(p: DecoderPrefill) -> tuple[Tensor, Tensor]:
    return _prefill(p.model, p.tokens, None)


def _prefill(model: Any, tokens: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """([batch, seq, hidden], [batch, 1, vocabulary]); without a mask transformers asks SDPA for a causal one."""
    masks = {"full_attention": mask}
    hidden = model.model(input_ids=tokens, attention_mask=masks, use_cache=False).last_hidden_state
    return hidden, model.lm_head(hidden[:, -1:])


def reference(p: DecoderPrefill) -> tuple[Tensor, Tensor]:
    """The same rounded weights with the written-out attention, one sequence at a time.

    Matmuls, scores and the residual stream are in float64; norms and softmax are in float32, as transformers writes
    them, whose error is some 10^4 times below that of bf16. Each module's weights are widened only while it runs, so
    that a float64 copy of the whole model need not fit.
    """
    with in_float64(p.model):
        return plain(p)


def plain(p: DecoderPrefill) -> tuple[Tensor, Tensor]:
    """The written-out attention in the dtype of the weights, one sequence at a time."""
    with _attention("eager")(p):
        rows = [_prefill(p.model, sequence, p.mask) for sequence in torch.split(p.tokens, 1)]
    hidden, logits = zip(*rows, strict=True)
    return torch.cat(hidden), torch.cat(logits)


def error_allowed(workload: Workload) -> float:
    """Where nothing is known of plain code: every layer adds its rounding to the residual stream twice, and independent
    errors add in quadrature."""
    return tolerance.of_dtype(workload.dtype) * math.sqrt(2 * _config(workload).num_hidden_layers)


def useful_flops(workload: Workload) -> int:
    """Matmuls over all tokens, attention over the pairs that causality leaves, logits of the last token alone."""
    config, batch, seq = _config(workload), int(workload.axes["batch"]), int(workload.axes["seq"])
    projections = 2 * seq * config.layer_weights
    attention = 4 * config.hidden_size * unmasked_pairs(seq, seq, causal=True)
    logits = 2 * config.hidden_size * config.vocab_size
    return batch * (config.num_hidden_layers * (projections + attention) + logits)


def least_bytes(workload: Workload) -> int:
    """The matrices read once (the embedding through the logits), the hidden states written once."""
    config, size = _config(workload), TORCH_DTYPES[workload.dtype].itemsize
    weights = config.num_hidden_layers * config.layer_weights + config.vocab_size * config.hidden_size
    return (weights + int(workload.axes["batch"]) * int(workload.axes["seq"]) * config.hidden_size) * size


def costs(workload: Workload, implementation: str | None = None) -> Costs:
    """The written-out attention computes the masked half too."""
    config, batch, seq = _config(workload), int(workload.axes["batch"]), int(workload.axes["seq"])
    least, useful = least_bytes(workload), useful_flops(workload)
    pairs = unmasked_pairs(seq, seq, causal=True)
    masked = batch * config.num_hidden_layers * 4 * config.hidden_size * (seq * seq - pairs)
    return Costs(
        least_bytes=least,
        read_bytes=least - batch * seq * config.hidden_size * TORCH_DTYPES[workload.dtype].itemsize,
        useful_flops=useful,
        executed_flops=useful + masked if implementation == "eager" else None,
        exponentials=batch * config.num_hidden_layers * config.num_attention_heads * pairs,
    )


def tokens(workload: Workload) -> int | None:
    """Batch × sequence: every token of every prompt is processed."""
    return int(workload.axes["batch"]) * int(workload.axes["seq"])


def receipt(implementation: str, p: DecoderPrefill) -> Receipt | None:
    """What torch chooses for the attention of its layers, by what they ask: one more call, eager. The first question
    counts where layers differ."""
    if implementation != "sdpa":
        return None
    asked = questions_of(lambda: sdpa(p))
    return sdpa_backends.receipt(sdpa_backends.AUTO, asked[0], packages=("transformers",)) if asked else None


def _config(workload: Workload) -> DecoderConfig:
    return decoder_config(str(workload.axes["model"]))
