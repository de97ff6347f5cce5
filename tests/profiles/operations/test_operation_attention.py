"""Attention: every implementation that a CPU has computes the reference; costs are by counting."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend

from profiles.operations import attention
from profiles.operations.attention import Attention, unmasked_pairs
from profiles.workload import AxisValue, Distribution, DType
from tests.profiles.operations.small import CPU, relative_error
from tests.profiles.operations.small import attention as workload

ON_CPU = (attention.naive, attention.naive_inplace, attention.sdpa_auto, attention.sdpa_math, attention.sdpa_flash)
SHAPES: tuple[dict[str, AxisValue], ...] = (
    {},
    {"causal": False},
    {"kv_heads": 2},
    {"kv_heads": 1, "causal": False},
    {"seq_q": 20, "seq_kv": 48},
    {"seq_q": 48, "seq_kv": 20},
    {"seq_q": 1, "seq_kv": 48},
)


def by_hand(a: Attention) -> Tensor:
    """One query at a time, in Python's own loops: slow, short and plainly right."""
    batch, heads, seq_q, _ = a.query.shape
    group = heads // a.key.shape[1]
    output = torch.zeros(a.query.shape, dtype=torch.float64)
    for b in range(batch):
        for h in range(heads):
            key, value = a.key[b, h // group].double(), a.value[b, h // group].double()
            for i in range(seq_q):
                seen = key.shape[0] if a.mask is None else min(i + 1, key.shape[0])
                scores = torch.exp(key[:seen] @ a.query[b, h, i].double() * a.scale)
                output[b, h, i] = (scores / scores.sum()) @ value[:seen]
    return output


@pytest.mark.parametrize("axes", SHAPES, ids=str)
def test_reference_is_what_a_loop_over_queries_gives(axes: dict[str, AxisValue]) -> None:
    inputs = attention.inputs(workload(**axes), CPU)
    assert relative_error(attention.reference(inputs)[0], by_hand(inputs)) < 1e-12


@pytest.mark.parametrize("dtype", list(DType))
@pytest.mark.parametrize("axes", SHAPES, ids=str)
@pytest.mark.parametrize("implementation", ON_CPU)
def test_every_implementation_is_within_tolerance_at_every_shape(
    implementation: Callable[[Attention], Tensor], axes: dict[str, AxisValue], dtype: DType
) -> None:
    case = workload(dtype, **axes)
    inputs = attention.inputs(case, CPU)
    output = implementation(inputs)
    assert output.dtype == inputs.query.dtype
    assert relative_error(output, attention.reference(inputs)[0]) < attention.error_allowed(case)


def test_reference_in_pieces_equals_the_reference_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = attention.inputs(workload(seq_q=50), CPU)
    whole = attention.reference(inputs)[0]
    monkeypatch.setattr(attention, "SCORES_AT_ONCE", 2 * 4 * 48 * 7)  # seven rows at a time
    assert relative_error(attention.reference(inputs)[0], whole) < 1e-12


def test_a_wrong_alignment_of_the_mask_is_far_outside_the_tolerance() -> None:
    case = workload(DType.BF16, seq_q=24)
    inputs = attention.inputs(case, CPU)
    assert inputs.mask is not None
    lower_right = torch.ones(24, 48, dtype=torch.bool).triu(48 - 24 + 1)
    wrong = Attention(inputs.query, inputs.key, inputs.value, lower_right, inputs.scale)
    error = relative_error(attention.naive(wrong), attention.reference(inputs)[0])
    assert error > 10 * attention.error_allowed(case)


@pytest.mark.parametrize(("seq_q", "seq_kv"), [(5, 5), (3, 7), (7, 3), (1, 4), (4, 1)])
def test_unmasked_pairs_are_the_ones_that_the_mask_leaves(seq_q: int, seq_kv: int) -> None:
    mask = attention.inputs(workload(seq_q=seq_q, seq_kv=seq_kv), CPU).mask
    assert mask is not None
    assert unmasked_pairs(seq_q, seq_kv, causal=True) == int((~mask).sum())
    assert unmasked_pairs(seq_q, seq_kv, causal=False) == seq_q * seq_kv


def test_costs_of_the_published_ladder() -> None:
    axes: dict[str, AxisValue] = {
        "batch": 8,
        "heads": 16,
        "kv_heads": 16,
        "seq_q": 1024,
        "seq_kv": 1024,
        "head_dim": 64,
    }
    case = workload(DType.BF16, **axes)
    assert attention.useful_flops(case) == 4 * 8 * 16 * 64 * (1024 * 1025 // 2)
    assert attention.least_bytes(case) == 4 * 8 * 16 * 1024 * 64 * 2
    assert attention.tokens(case) is None


@pytest.mark.parametrize(
    ("axes", "kept"),
    [
        ({"heads": 16, "kv_heads": 4}, {"heads": 4, "kv_heads": 1}),
        ({"seq_q": 4096, "seq_kv": 4096}, {"seq_q": 128, "seq_kv": 128}),
        ({"seq_q": 1, "seq_kv": 4096}, {"seq_q": 1, "seq_kv": 128}),
        ({"seq_q": 2048, "seq_kv": 4096}, {"seq_q": 64, "seq_kv": 128}),
        ({"head_dim": 300, "causal": False}, {"head_dim": 300, "causal": False}),
    ],
)
def test_tiny_keeps_what_decides_eligibility(axes: dict[str, AxisValue], kept: dict[str, AxisValue]) -> None:
    tiny = attention.tiny(workload(DType.FP16, **axes))
    assert {name: tiny.axes[name] for name in kept} == kept
    assert tiny.dtype is DType.FP16


def test_inputs_are_equal_for_equal_seeds_and_by_the_stated_distribution() -> None:
    normal = attention.inputs(workload(batch=8, head_dim=64), CPU).query
    again = attention.inputs(workload(batch=8, head_dim=64), CPU).query
    uniform = attention.inputs(workload(distribution=Distribution.UNIFORM, batch=8, head_dim=64), CPU).query
    assert torch.equal(normal, again)
    assert normal.std().item() == pytest.approx(1.0, abs=0.02)
    assert (uniform.min().item(), uniform.max().item()) == pytest.approx((-1.0, 1.0), abs=1e-3)


def test_auto_on_a_cpu_takes_flash_and_the_receipt_says_why_not_the_others() -> None:
    receipt = attention.receipt("sdpa_auto", attention.inputs(workload(), CPU))
    assert receipt is not None
    assert (receipt.asked, receipt.ran, receipt.fell_back) == ("auto", "flash", False)
    assert receipt.refusals["cudnn"] == "torch has no cuDNN attention for CPU tensors"
    assert "flash" not in receipt.refusals


def test_a_refused_backend_has_not_run() -> None:
    receipt = attention.receipt("sdpa_efficient", attention.inputs(workload(), CPU))
    assert receipt is not None
    assert receipt.ran is None
    assert "efficient" in receipt.refusals


def test_variants_without_a_backend_have_no_receipt() -> None:
    assert attention.receipt("naive", attention.inputs(workload(), CPU)) is None


def test_a_pinned_backend_raises_rather_than_fall_back() -> None:
    with pytest.raises(RuntimeError, match="No viable backend"):
        attention.sdpa_efficient(attention.inputs(workload(), CPU))


def test_backends_are_torchs_own_numbers() -> None:
    """`_fused_sdp_choice` answers with these."""
    names = {backend.name: int(backend.value) for backend in SDPBackend.__members__.values()}
    assert (names["MATH"], names["FLASH_ATTENTION"], names["EFFICIENT_ATTENTION"], names["CUDNN_ATTENTION"]) == (
        0,
        1,
        2,
        3,
    )
