"""The tolerances: apart from what honest code errs, short of what lower precision does, and as the documents say."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from profiles import catalog
from profiles.operations.random_inputs import TORCH_DTYPES
from profiles.operations.tolerance import SEEN, TOLERANCES, of_dtype
from profiles.workload import DType

DOCUMENT = Path(__file__).parents[3] / "docs" / "measuring.md"


def test_every_operation_and_dtype_has_an_error_that_was_seen() -> None:
    assert {(name, dtype) for name, seen in SEEN.items() for dtype in seen} == {
        (operation.name, dtype) for operation in catalog.OPERATIONS for dtype in operation.dtypes
    }


@pytest.mark.parametrize("dtype", list(DType))
def test_honest_code_stays_at_less_than_half_of_what_passes(dtype: DType) -> None:
    """Of one operator; of a whole model as much as twice what plain code errs passes."""
    assert all(2 * seen[dtype] < of_dtype(dtype) for name, seen in SEEN.items() if name != "decoder_prefill")


@pytest.mark.parametrize("lower", [DType.BF16, DType.FP16])
def test_a_result_rounded_once_to_a_lower_precision_is_far_beyond_what_passes_in_fp32(lower: DType) -> None:
    exact = torch.randn(100_000, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    error = float((exact.to(TORCH_DTYPES[lower]).double() - exact).norm() / exact.norm())
    assert error > 10 * TOLERANCES[DType.FP32]
    assert error == pytest.approx({DType.BF16: 1.6e-3, DType.FP16: 2.0e-4}[lower], rel=0.1)


def test_the_document_says_the_same() -> None:
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    for dtype in DType:
        row = [dtype.value, _written(of_dtype(dtype)), *(_written(SEEN[op.name][dtype]) for op in catalog.OPERATIONS)]
        assert any(line.startswith("| " + " | ".join(row) + " |") for line in lines), row


def _written(error: float) -> str:
    mantissa, _, exponent = f"{error:.1e}".partition("e")
    return f"{mantissa}e{int(exponent)}"
