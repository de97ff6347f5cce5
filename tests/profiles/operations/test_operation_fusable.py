"""SwiGLU and residual RMS norm: the implementations compute the reference, and the reference is the formula."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from profiles.operations import residual_rms_norm, swiglu
from profiles.workload import DType, Workload
from tests.profiles.operations import small
from tests.profiles.operations.small import CPU, relative_error


def test_swiglu_reference_is_the_formula() -> None:
    s = swiglu.inputs(small.swiglu(), CPU)
    gate, up = s.x.double() @ s.gate.double().T, s.x.double() @ s.up.double().T
    expected = (gate / (1 + torch.exp(-gate)) * up) @ s.down.double().T
    assert relative_error(swiglu.reference(s)[0], expected) < 1e-12


@pytest.mark.parametrize("dtype", list(DType))
def test_swiglu_unfused_is_within_tolerance(dtype: DType) -> None:
    case = small.swiglu(dtype)
    s = swiglu.inputs(case, CPU)
    assert relative_error(swiglu.unfused(s), swiglu.reference(s)[0]) < swiglu.error_allowed(case)


def test_norm_reference_is_the_formula() -> None:
    n = residual_rms_norm.inputs(small.residual_rms_norm(), CPU)
    total = n.x.double() + n.residual.double()
    mean = (total * total).sum(dim=1, keepdim=True) / 64
    expected = total / (mean + residual_rms_norm.EPSILON).sqrt() * n.weight.double()
    sums, norms = residual_rms_norm.reference(n)
    assert torch.equal(sums, total)
    assert relative_error(norms, expected) < 1e-12


@pytest.mark.parametrize("dtype", list(DType))
@pytest.mark.parametrize("implementation", [residual_rms_norm.unfused, residual_rms_norm.functional])
def test_norm_gives_the_sum_and_its_norm_within_tolerance(implementation: object, dtype: DType) -> None:
    case = small.residual_rms_norm(dtype)
    n = residual_rms_norm.inputs(case, CPU)
    outputs: tuple[Tensor, Tensor] = implementation(n)  # type: ignore[operator]
    for output, expected in zip(outputs, residual_rms_norm.reference(n), strict=True):
        assert output.dtype == n.x.dtype
        assert relative_error(output, expected) < residual_rms_norm.error_allowed(case)


@pytest.mark.parametrize(
    ("module", "case"),
    [(swiglu, small.swiglu()), (residual_rms_norm, small.residual_rms_norm())],
    ids=["swiglu", "norm"],
)
def test_references_in_pieces_equal_the_reference_at_once(
    module: object, case: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = module.inputs(case, CPU)  # type: ignore[attr-defined]
    whole = module.reference(inputs)  # type: ignore[attr-defined]
    monkeypatch.setattr(module, "ROWS_AT_ONCE", 7)
    pieces = module.reference(inputs)  # type: ignore[attr-defined]
    assert all(torch.allclose(piece, part, rtol=1e-12, atol=1e-14) for piece, part in zip(pieces, whole, strict=True))


def test_costs_of_swiglu_are_three_matmuls_and_everything_touched_once() -> None:
    case = small.swiglu(DType.BF16)
    s = swiglu.inputs(case, CPU)
    touched = sum(t.numel() for t in (s.x, s.gate, s.up, s.down, swiglu.unfused(s)))
    assert swiglu.useful_flops(case) == 3 * 2 * 24 * 32 * 80
    assert swiglu.least_bytes(case) == 2 * touched


def test_costs_of_the_norm_are_everything_touched_once() -> None:
    case = small.residual_rms_norm(DType.BF16)
    n = residual_rms_norm.inputs(case, CPU)
    touched = sum(t.numel() for t in (n.x, n.residual, n.weight, *residual_rms_norm.unfused(n)))
    assert residual_rms_norm.least_bytes(case) == 2 * touched
    assert residual_rms_norm.useful_flops(case) is None


def test_norm_keeps_its_width_when_tiny() -> None:
    case = Workload(operation="residual_rms_norm", axes={"rows": 8192, "width": 2048}, dtype=DType.BF16)
    assert residual_rms_norm.tiny(case).axes == {"rows": 16, "width": 2048}
