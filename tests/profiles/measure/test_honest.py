"""No false alarm: every implementation that a CPU has passes at every dtype, shape and seed that is tried."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
import torch

from profiles.operations import attention, residual_rms_norm, swiglu
from profiles.workload import AxisValue, Distribution, DType, Workload
from tests.profiles.measure.checking import Bench
from tests.profiles.operations import small

SEEDS = range(4)
ATTENTION: tuple[dict[str, AxisValue], ...] = (
    {},
    {"causal": False},
    {"kv_heads": 1},
    {"seq_q": 256, "seq_kv": 256},
    {"seq_q": 3, "seq_kv": 300},
    {"seq_q": 48, "seq_kv": 20},
    {"seq_q": 1, "seq_kv": 1},
    {"head_dim": 1},
)
SWIGLU = ((24, 32, 80), (300, 16, 48), (64, 1, 8), (1, 64, 64))
NORM = ((24, 64), (3000, 16), (500, 1), (1, 1024))


@pytest.mark.parametrize("dtype", list(DType))
@pytest.mark.parametrize("axes", ATTENTION, ids=str)
def test_attention(axes: dict[str, AxisValue], dtype: DType) -> None:
    case = small.attention(dtype, **axes)
    names = ("naive", "naive_inplace", "sdpa_auto", "sdpa_math", "sdpa_flash")
    _all_pass(case, names)


@pytest.mark.parametrize("dtype", list(DType))
@pytest.mark.parametrize("sizes", SWIGLU, ids=str)
def test_swiglu(sizes: tuple[int, int, int], dtype: DType) -> None:
    axes: dict[str, AxisValue] = dict(zip(("rows", "width", "hidden"), sizes, strict=True))
    _all_pass(Workload(operation="swiglu", axes=axes, dtype=dtype), ("unfused",))


@pytest.mark.parametrize("dtype", list(DType))
@pytest.mark.parametrize("sizes", NORM, ids=str)
def test_residual_rms_norm(sizes: tuple[int, int], dtype: DType) -> None:
    axes: dict[str, AxisValue] = dict(zip(("rows", "width"), sizes, strict=True))
    _all_pass(Workload(operation="residual_rms_norm", axes=axes, dtype=dtype), ("unfused", "functional"))


@pytest.mark.parametrize("dtype", list(DType))
def test_decoder_prefill(dtype: DType) -> None:
    pytest.importorskip("transformers", reason="transformers is not installed")
    bench = Bench(small.decoder_prefill(dtype))
    for name in ("eager", "sdpa"):
        found = bench.check(bench.named(name))
        assert found.passed, (name, found.reason)


def _all_pass(case: Workload, names: tuple[str, ...]) -> None:
    for seed in SEEDS:
        distribution = list(Distribution)[seed % 2]
        bench = Bench(msgspec.structs.replace(case, seed=seed, distribution=distribution))
        for name in names:
            found = bench.check(bench.named(name))
            assert found.passed, (name, seed, found.reason)
            assert found.deterministic
            assert found.row_error is not None
            assert found.row_allowed is not None
            assert found.row_error <= found.row_allowed < 0.5


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch.*")
@pytest.mark.parametrize(
    ("function", "case"),
    [
        (swiglu.unfused, small.swiglu(DType.BF16)),
        (residual_rms_norm.unfused, small.residual_rms_norm(DType.FP32)),
        (attention.naive, small.attention(DType.FP16)),
    ],
    ids=["swiglu-bf16", "norm-fp32", "attention-fp16"],
)
def test_compiled_code_that_rounds_elsewhere(function: Callable[..., object], case: Workload) -> None:
    bench = Bench(case)
    found = bench.check(torch.compile(function, fullgraph=True, dynamic=False))
    assert found.passed, found.reason
    assert found.deterministic


@pytest.mark.parametrize("dtype", [DType.BF16, DType.FP16])
def test_arithmetic_in_fp32_that_is_rounded_once(dtype: DType) -> None:
    """Better than plain code, and other bits than plain code in most elements."""
    bench = Bench(Workload(operation="swiglu", axes={"rows": 200, "width": 64, "hidden": 96}, dtype=dtype))

    def wide(s: swiglu.SwiGLU) -> torch.Tensor:
        parts = (s.x.float(), s.gate.float(), s.up.float(), s.down.float())
        return swiglu.unfused(swiglu.SwiGLU(*parts)).to(s.x.dtype)  # type: ignore[arg-type]

    found = bench.check(wide)
    assert found.passed, found.reason
    assert found.relative_l2 is not None
    assert found.plain_error is not None
    assert found.relative_l2 < found.plain_error


def test_sums_in_another_order() -> None:
    bench = Bench(Workload(operation="swiglu", axes={"rows": 100, "width": 256, "hidden": 700}, dtype=DType.FP32))

    def in_halves(s: swiglu.SwiGLU) -> torch.Tensor:
        inner = torch.nn.functional.silu(s.x @ s.gate.T) * (s.x @ s.up.T)
        return inner[:, 350:] @ s.down[:, 350:].T + inner[:, :350] @ s.down[:, :350].T

    found = bench.check(in_halves)
    assert found.passed, found.reason


def test_results_that_differ_within_the_tolerance_are_right_and_not_deterministic() -> None:
    bench = Bench(small.residual_rms_norm(DType.FP32))
    orders = iter([0, 1, 2, 3])

    def varies(n: residual_rms_norm.ResidualRMSNorm) -> tuple[torch.Tensor, torch.Tensor]:
        total, normed = residual_rms_norm.functional(n)
        return total, normed * (1 + next(orders) * 2**-22)

    found = bench.check(varies)
    assert found.passed, found.reason
    assert (found.deterministic, found.repeats) == (False, 3)
