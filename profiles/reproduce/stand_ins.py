"""What a script has instead of a module of ours that reads files: the few values that it needs of them."""

from __future__ import annotations

from profiles.operations.decoder_config import config_facts
from profiles.reproduce.literals import literal
from profiles.reproduce.modules import Module, module_of
from profiles.workload import Workload

DECODER_CONFIG = "profiles.operations.decoder_config"


def stand_ins(workload: Workload) -> dict[str, Module]:
    """By the name of the module that they stand in for."""
    model = workload.axes.get("model")
    return {} if model is None else {DECODER_CONFIG: _decoder_config(str(model))}


def _decoder_config(model: str) -> Module:
    items = "".join(f"    {literal(name)}: {literal(value)},\n" for name, value in config_facts(model).items())
    text = f"""from types import SimpleNamespace
from typing import Any

# As transformers takes it.
CONFIG: dict[str, Any] = {{
{items}}}
DecoderConfig = SimpleNamespace


def config_facts(_: str) -> dict[str, Any]:
    return CONFIG


def decoder_config(_: str) -> DecoderConfig:
    return DecoderConfig(**CONFIG)
"""
    return module_of(DECODER_CONFIG, text, {})
