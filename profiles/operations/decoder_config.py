"""The shipped decoder shapes (`profiles/configs/*.json`): plain facts, from which costs follow without a model."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

DIRECTORY = Path(__file__).parent.parent / "configs"


class DecoderConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The facts that costs need, by transformers' names; the file holds more."""

    model_type: str
    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int

    @property
    def head_dim(self) -> int:
        return self.hidden_size // self.num_attention_heads

    @property
    def layer_weights(self) -> int:
        """Elements of one layer's matrices: query and output, key and value, gate, up and down."""
        queries = 2 * self.hidden_size * self.hidden_size
        keys = 2 * self.hidden_size * self.head_dim * self.num_key_value_heads
        return queries + keys + 3 * self.hidden_size * self.intermediate_size


@cache
def decoder_config(model: str) -> DecoderConfig:
    return msgspec.json.decode(_path(model).read_bytes(), type=DecoderConfig)


@cache
def config_facts(model: str) -> dict[str, object]:
    """Everything in the file, as transformers takes it."""
    return msgspec.json.decode(_path(model).read_bytes(), type=dict[str, object])


def _path(model: str) -> Path:
    return DIRECTORY / f"{model}.json"
