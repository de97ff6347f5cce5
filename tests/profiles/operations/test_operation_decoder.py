"""The decoder: both attentions give the float64 reference's hidden states and logits; costs follow from the config."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from profiles.catalog import DECODER_PREFILL
from profiles.operations import decoder_prefill
from profiles.operations.decoder_config import DIRECTORY, decoder_config
from profiles.operations.decoder_prefill import DecoderPrefill
from profiles.operations.exact import in_float64
from profiles.operations.implementation import UnsupportedError
from profiles.workload import Distribution, DType
from tests.profiles.operations import small
from tests.profiles.operations.small import CPU, relative_error

pytest.importorskip("transformers", reason="transformers is not installed")


@pytest.fixture(scope="module")
def prefill() -> DecoderPrefill:
    return decoder_prefill.inputs(small.decoder_prefill(), CPU)


@pytest.mark.parametrize("dtype", list(DType))
def test_both_attentions_are_within_tolerance(dtype: DType) -> None:
    case = small.decoder_prefill(dtype)
    p = decoder_prefill.inputs(case, CPU)
    reference = decoder_prefill.reference(p)
    for implementation in (decoder_prefill.eager, decoder_prefill.sdpa):
        for output, expected in zip(implementation(p), reference, strict=True):
            assert output.shape == expected.shape
            assert relative_error(output, expected) < decoder_prefill.error_allowed(case)


def test_reference_is_the_whole_model_in_float64(prefill: DecoderPrefill) -> None:
    hidden, logits = decoder_prefill.reference(prefill)
    wide = decoder_prefill.inputs(small.decoder_prefill(), CPU)
    wide.model.double()
    expected = decoder_prefill.eager(wide)
    assert relative_error(hidden, expected[0]) < 1e-6
    assert relative_error(logits, expected[1]) < 1e-6


def test_causality_matters_to_what_is_checked(prefill: DecoderPrefill) -> None:
    """Were attention to see the future, the error would be far outside the tolerance."""
    open_mask = DecoderPrefill(prefill.model, prefill.tokens, torch.zeros_like(prefill.mask))
    hidden, _ = decoder_prefill.eager(open_mask)
    error = relative_error(hidden, decoder_prefill.reference(prefill)[0])
    assert error > 100 * decoder_prefill.error_allowed(small.decoder_prefill())


def test_the_attention_is_chosen_inside_the_context_alone(prefill: DecoderPrefill) -> None:
    before = prefill.model.config._attn_implementation
    with decoder_prefill.eager.context(prefill):
        assert prefill.model.config._attn_implementation == "eager"
    assert prefill.model.config._attn_implementation == before


def test_float64_leaves_the_weights_as_they_were(prefill: DecoderPrefill) -> None:
    before = [parameter.data_ptr() for parameter in prefill.model.parameters()]
    with in_float64(prefill.model):
        prefill.model.model.embed_tokens(prefill.tokens)
    after = [parameter.data_ptr() for parameter in prefill.model.parameters()]
    assert after == before
    assert {parameter.dtype for parameter in prefill.model.parameters()} == {torch.float32}


def test_float64_restores_the_weights_of_a_module_that_raises(prefill: DecoderPrefill) -> None:
    with in_float64(prefill.model), pytest.raises(IndexError):
        prefill.model.model.embed_tokens(torch.tensor([1 << 30]))
    assert {parameter.dtype for parameter in prefill.model.parameters()} == {torch.float32}


def test_weights_are_equal_for_equal_seeds(prefill: DecoderPrefill) -> None:
    again = decoder_prefill.inputs(small.decoder_prefill(), CPU)
    assert torch.equal(again.tokens, prefill.tokens)
    assert torch.equal(again.model.lm_head.weight, prefill.model.lm_head.weight)


def test_another_distribution_than_the_models_own_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="the workload asks for 'uniform'"):
        decoder_prefill.inputs(small.decoder_prefill(distribution=Distribution.UNIFORM), CPU)


def test_layer_weights_are_the_models_matrices(prefill: DecoderPrefill) -> None:
    matrices = [p.numel() for name, p in prefill.model.model.layers.named_parameters() if p.dim() == 2]
    config = decoder_config("tiny")
    assert sum(matrices) == config.num_hidden_layers * config.layer_weights


def test_flops_are_two_per_weight_and_token_beside_attention_and_the_last_logits() -> None:
    config, case = decoder_config("tiny"), small.decoder_prefill()
    projections = 2 * 2 * 12 * config.num_hidden_layers * config.layer_weights
    attention = 2 * config.num_hidden_layers * 4 * config.hidden_size * (12 * 13 // 2)
    logits = 2 * 2 * config.hidden_size * config.vocab_size
    assert decoder_prefill.useful_flops(case) == projections + attention + logits
    assert decoder_prefill.tokens(case) == 24


def test_every_model_of_the_catalogue_has_its_shipped_config() -> None:
    choices = next(axis.choices for axis in DECODER_PREFILL.axes if axis.name == "model")
    assert {path.stem for path in Path(DIRECTORY).glob("*.json")} == set(choices)


@pytest.mark.parametrize(("model", "billions"), [("qwen2.5-0.5b", 0.49), ("qwen2.5-1.5b", 1.54)])
def test_the_shapes_have_the_published_number_of_parameters(model: str, billions: float) -> None:
    """Qwen2.5's model cards: 0.49 and 1.54 billion parameters, embeddings tied."""
    config = decoder_config(model)
    total = config.num_hidden_layers * config.layer_weights + config.vocab_size * config.hidden_size
    assert total / 1e9 == pytest.approx(billions, abs=0.01)
    assert json.loads((DIRECTORY / f"{model}.json").read_text())["tie_word_embeddings"] is True
