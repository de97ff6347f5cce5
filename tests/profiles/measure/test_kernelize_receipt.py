"""Receipts of hub kernels, with the real package `kernels` and a local repository of a kernel in plain Python."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from profiles.measure.kernelize_receipt import kernelized
from profiles.results import Receipt

kernels: Any = pytest.importorskip("kernels", reason="the package kernels is not installed")

CODE = """
import sys, types
import torch
from torch import nn

class SiluAndMul(nn.Module):
    can_torch_compile = False

    def forward(self, x):
        half = x.shape[-1] // 2
        return torch.nn.functional.silu(x[..., :half]) * x[..., half:]

layers = types.SimpleNamespace(SiluAndMul=SiluAndMul)
"""


@kernels.use_kernel_forward_from_hub("SiluAndMul")
class SiluAndMul(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        half = x.shape[-1] // 2
        return torch.nn.functional.silu(x[..., :half]) * x[..., half:]


@kernels.use_kernel_forward_from_hub("RareNorm")
class RareNorm(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x / x.norm()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A local repository as `kernels` wants it: `build/<variant>/__init__.py` and its metadata."""
    variant = tmp_path / "activation" / "build" / "torch-cpu"
    variant.mkdir(parents=True)
    (variant / "__init__.py").write_text(CODE)
    metadata = {"id": "activation_1", "name": "activation", "version": 1, "license": "Apache-2.0"}
    metadata |= {"python-depends": [], "backend": {"type": "cpu"}}
    (variant / "metadata.json").write_text(json.dumps(metadata))
    return tmp_path / "activation"


@pytest.fixture
def mapped(repository: Path) -> Iterator[None]:
    layer = kernels.LocalLayerRepository(repo_path=repository, layer_name="SiluAndMul")
    with kernels.use_kernel_mapping({"SiluAndMul": {"cpu": layer}}, inherit_mapping=False):
        yield


def receipts(model: nn.Module, mode: Any, device: str = "cpu") -> dict[str, Receipt]:
    kernelize: Callable[..., object] = partial(kernels.kernelize, mode=mode, device=device)
    return {receipt.asked: receipt for receipt in kernelized(model, kernelize)}


@pytest.mark.usefixtures("mapped")
def test_a_layer_that_is_replaced_says_by_what() -> None:
    model = nn.Sequential(nn.Linear(8, 8), SiluAndMul())
    receipt = receipts(model, kernels.Mode.INFERENCE)["hub kernel for SiluAndMul"]
    assert (receipt.ran, receipt.fell_back, receipt.detail) == ("hub kernel SiluAndMul", False, None)
    assert model[1].forward.__func__ is not SiluAndMul.forward  # type: ignore[attr-defined]
    assert receipt.versions["kernels"] == kernels.__version__


@pytest.mark.usefixtures("mapped")
def test_a_layer_without_a_mapping_is_an_alarm_beside_one_that_has_one() -> None:
    found = receipts(nn.Sequential(SiluAndMul(), RareNorm(), RareNorm()), kernels.Mode.INFERENCE)
    assert not found["hub kernel for SiluAndMul"].fell_back
    fallen = found["hub kernel for RareNorm"]
    assert fallen.fell_back
    assert fallen.ran == "own forward"
    assert fallen.detail == "2 of 2 RareNorm layers kept their own forward: No layer mapping for `RareNorm`"


@pytest.mark.usefixtures("mapped")
def test_a_mapping_for_another_device_falls_back_without_a_word_and_is_an_alarm() -> None:
    fallen = receipts(SiluAndMul(), kernels.Mode.INFERENCE, "cuda")["hub kernel for SiluAndMul"]
    assert fallen.fell_back
    assert "No layer mapping for `SiluAndMul` with device type" in (fallen.detail or "")


@pytest.mark.usefixtures("mapped")
def test_a_kernel_that_cannot_be_compiled_is_an_alarm_where_compiling_was_asked_for() -> None:
    mode = kernels.Mode.INFERENCE | kernels.Mode.TORCH_COMPILE
    fallen = receipts(SiluAndMul(), mode)["hub kernel for SiluAndMul"]
    assert fallen.fell_back
    assert "does not support mode" in (fallen.detail or "")
