"""Variants that are fast because they are wrong: each is found, and by the right reason."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest
import torch
from torch import Tensor

from profiles.measure.rotation import tensors
from profiles.operations import attention, swiglu
from profiles.operations.attention import Attention
from profiles.operations.residual_rms_norm import ResidualRMSNorm, functional, unfused
from profiles.operations.swiglu import SwiGLU
from profiles.workload import Distribution, DType, Workload
from tests.profiles.measure.checking import Bench
from tests.profiles.operations import small

Norms = tuple[Tensor, Tensor]


@pytest.fixture(scope="module")
def tall() -> Bench:
    """10^5 rows and more, in two outputs."""
    axes = {"rows": 100_000, "width": 16}
    return Bench(Workload(operation="residual_rms_norm", axes=axes, dtype=DType.BF16))


@pytest.fixture(scope="module")
def norm() -> Bench:
    axes = {"rows": 4096, "width": 64}
    return Bench(Workload(operation="residual_rms_norm", axes=axes, dtype=DType.FP32))


@pytest.fixture(scope="module")
def ladder() -> Bench:
    return Bench(small.attention(DType.BF16, seq_q=96, seq_kv=96))


def refused(bench: Bench, function: Callable[[Any], Any], reason: str) -> None:
    found = bench.check(function)
    assert not found.passed
    assert found.reason is not None
    assert reason in found.reason


def test_zeros(norm: Bench) -> None:
    refused(norm, lambda n: (torch.zeros_like(n.x), torch.zeros_like(n.x)), "relative error 1, tolerance 1.0e-5")


def test_the_first_calls_output_kept_for_ever(norm: Bench) -> None:
    kept: list[Norms] = []

    def cached(n: ResidualRMSNorm) -> Norms:
        if not kept:
            kept.append(functional(n))
        return kept[0]

    refused(norm, cached, "rows are never written with other inputs")


def test_the_first_calls_output_copied_for_ever(norm: Bench) -> None:
    kept: list[Norms] = []

    def cached(n: ResidualRMSNorm) -> Norms:
        if not kept:
            kept.append(functional(n))
        return kept[0][0].clone(), kept[0][1].clone()

    refused(norm, cached, "with other inputs its output is off by 1.4, as an earlier call's would be")


def test_an_output_kept_by_the_address_of_its_input(norm: Bench) -> None:
    kept: dict[int, Norms] = {}

    def memoised(n: ResidualRMSNorm) -> Norms:
        total, normed = kept.setdefault(n.x.data_ptr(), functional(n))
        return total.clone(), normed.clone()

    refused(norm, memoised, "with other inputs its output is off by")


def test_the_last_calls_output(norm: Bench) -> None:
    """One call late: right as long as nobody changes the inputs."""
    last: list[Norms] = []

    def late(n: ResidualRMSNorm) -> Norms:
        last.append(functional(n))
        return tuple(one.clone() for one in (last[-2] if len(last) > 1 else last[-1]))  # type: ignore[return-value]

    refused(norm, late, "with other inputs its output is off by")


@pytest.mark.parametrize("row", [0, 99_999, 31_337])
def test_one_bad_row_in_a_hundred_thousand(tall: Bench, row: int) -> None:
    def skips_a_row(n: ResidualRMSNorm) -> Norms:
        total, normed = functional(n)
        normed[row] = normed[row - 1]
        return total, normed

    found = tall.check(skips_a_row)
    assert not found.passed
    assert (found.rows, found.rows_wrong) == (200_000, 1)
    assert found.relative_l2 is not None
    assert found.relative_l2 < found.tolerance, "as a whole it passes"
    assert found.reason is not None
    assert found.reason.startswith("1 of 200,000 rows is wrong: it is off by ")


def test_one_bad_element_in_a_million(tall: Bench) -> None:
    def slips(n: ResidualRMSNorm) -> Norms:
        total, normed = functional(n)
        normed[5, 3] *= -1
        return total, normed

    refused(tall, slips, "1 of 200,000 rows is wrong")


def test_nan_in_some_rows(norm: Bench) -> None:
    def divides(n: ResidualRMSNorm) -> Norms:
        total, normed = functional(n)
        normed[7:19, 5:8] = torch.nan
        return total, normed

    found = norm.check(divides)
    assert (found.passed, found.reason) == (False, "NaN in 12 of 8,192 rows")
    assert (found.nonfinite, found.rows_wrong, found.relative_l2, found.row_error) == (36, 12, None, None)


def test_one_infinite_element(norm: Bench) -> None:
    def overflows(n: ResidualRMSNorm) -> Norms:
        total, normed = functional(n)
        total[3, 3] = torch.inf
        return total, normed

    refused(norm, overflows, "infinity in 1 of 8,192 rows")


def test_results_that_vary_beyond_the_tolerance(norm: Bench) -> None:
    """As a race: most calls are right."""
    calls = itertools.count()

    def races(n: ResidualRMSNorm) -> Norms:
        total, normed = functional(n)
        if next(calls) == 3:
            normed[17] *= 1.01
        return total, normed

    found = norm.check(races)
    assert (found.passed, found.deterministic, found.repeats) == (False, False, 3)
    assert found.reason == "1 of 8,192 rows is wrong: it is off by 7.7e-3, 7.7e-6 passes, in call 3 of 3"


def test_a_tail_that_is_never_written(norm: Bench) -> None:
    """The right values are there, where the call before left them."""

    def ends_early(n: ResidualRMSNorm) -> Norms:
        total, normed = functional(n)
        output = torch.empty_like(normed)
        output[:-100] = normed[:-100]
        return total, output

    assert not norm.check(ends_early).passed


def test_a_buffer_of_its_own_whose_tail_is_never_written_again(norm: Bench) -> None:
    buffer = torch.empty_like(norm.inputs.x)
    calls = itertools.count()

    def ends_early(n: ResidualRMSNorm) -> Norms:
        total, normed = functional(n)
        rows = slice(None) if next(calls) == 0 else slice(None, -100)
        buffer[rows] = normed[rows]
        return total, buffer

    refused(norm, ends_early, "100 of 8,192 rows are never written with other inputs")


@pytest.mark.parametrize("name", ["naive", "sdpa_flash"])
def test_a_mask_that_is_ignored(ladder: Bench, name: str) -> None:
    implementation = ladder.named(name)
    refused(ladder, lambda a: implementation(replace(a, mask=None)), "relative error")


def test_a_mask_that_is_one_key_off() -> None:
    """Each row sees one key too many; late rows hardly show it."""
    bench = Bench(small.attention(DType.BF16, batch=1, heads=1, kv_heads=1, seq_q=512, seq_kv=512))

    def peeks(a: Attention) -> Tensor:
        assert a.mask is not None
        return attention.naive(replace(a, mask=torch.ones_like(a.mask).triu(2)))

    refused(bench, peeks, "relative error")


def test_a_mask_that_is_off_in_one_late_tile_alone() -> None:
    bench = Bench(small.attention(DType.FP16, batch=2, heads=8, kv_heads=8, seq_q=512, seq_kv=512))

    def peeks(a: Attention) -> Tensor:
        assert a.mask is not None
        output = attention.naive(a)
        mask = a.mask.clone()
        mask[500:, 501:] = False
        output[0, 3, 500:] = attention.naive(replace(a, mask=mask))[0, 3, 500:]
        return output

    found = bench.check(peeks)
    assert not found.passed
    assert found.rows_wrong is not None
    assert 1 <= found.rows_wrong <= 12


@pytest.mark.parametrize("lower", [torch.bfloat16, torch.float16])
def test_a_lower_precision_than_claimed(norm: Bench, lower: torch.dtype) -> None:
    def cheats(n: ResidualRMSNorm) -> Norms:
        narrow = replace(n, x=n.x.to(lower), residual=n.residual.to(lower), weight=n.weight.to(lower))
        total, normed = unfused(narrow)
        return total.float(), normed.float()

    refused(norm, cheats, "relative error")


def test_a_lower_precision_than_claimed_in_attention() -> None:
    bench = Bench(small.attention(DType.FP32))

    def cheats(a: Attention) -> Tensor:
        low = replace(a, query=a.query.bfloat16(), key=a.key.bfloat16(), value=a.value.bfloat16())
        return attention.naive(low).float()

    refused(bench, cheats, "relative error")


def test_another_dtype_than_the_workloads(norm: Bench) -> None:
    refused(
        norm,
        lambda n: tuple(one.bfloat16() for one in functional(n)),
        "its output is bfloat16 4096×64 and bfloat16 4096×64, expected is float32 4096×64 and float32 4096×64",
    )


def test_an_input_that_is_overwritten_and_put_back_by_us(norm: Bench) -> None:
    before = norm.inputs.residual.clone()

    def in_place(n: ResidualRMSNorm) -> Norms:
        return n.residual.add_(n.x), functional(n)[1]

    refused(norm, in_place, "it changes its inputs")
    assert torch.equal(norm.inputs.residual, before)
    assert norm.check(functional).passed


def test_a_weight_that_is_overwritten_and_put_back_by_us(norm: Bench) -> None:
    before = norm.inputs.weight.clone()
    calls = itertools.count()

    def wears_out(n: ResidualRMSNorm) -> Norms:
        outputs = functional(n)
        if next(calls) == 3:
            n.weight.mul_(2)
        return outputs

    refused(norm, wears_out, "it changes its weights")
    assert torch.equal(norm.inputs.weight, before)


FP16 = (
    small.attention(DType.FP16),
    small.attention(DType.FP16, causal=False),
    small.attention(DType.FP16, seq_q=3, seq_kv=300),
    small.attention(DType.FP16, seq_q=256, seq_kv=256),
    small.swiglu(DType.FP16),
    Workload(operation="swiglu", axes={"rows": 1, "width": 64, "hidden": 64}, dtype=DType.FP16),
    Workload(operation="residual_rms_norm", axes={"rows": 1, "width": 1024}, dtype=DType.FP16),
    Workload(operation="residual_rms_norm", axes={"rows": 3000, "width": 16}, dtype=DType.FP16),
)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("case", FP16, ids=lambda case: f"{case.operation}-{'x'.join(map(str, case.axes.values()))}")
def test_fp16_results_that_went_through_bf16(case: Workload, seed: int) -> None:
    distribution = list(Distribution)[seed % 2]
    bench = Bench(msgspec.structs.replace(case, seed=seed, distribution=distribution))
    assert not bench.check(lambda inputs: _through_bf16(bench.module.plain(inputs))).passed


def test_a_decoder_in_fp16_that_computes_in_bf16() -> None:
    """Of however many layers: what plain code errs tells more than their number."""
    pytest.importorskip("transformers", reason="transformers is not installed")
    bench = Bench(small.decoder_prefill(DType.FP16))
    lower = copy.deepcopy(bench.inputs)
    for tensor in tensors(lower):
        tensor.data = tensor.data.to(torch.bfloat16) if tensor.dtype is torch.float16 else tensor.data
    refused(bench, lambda p: _through_bf16(bench.module.plain(replace(p, model=lower.model, mask=lower.mask))), "error")
    assert bench.yardstick.tolerance == 2 * (bench.yardstick.plain_error or 0)


def _through_bf16(outputs: Any) -> Any:
    rounded = tuple(one.to(torch.bfloat16).half() for one in outputs)
    return rounded if len(rounded) > 1 else rounded[0]


@pytest.mark.parametrize("dtype", list(DType))
def test_weights_that_are_put_into_another_order(dtype: DType) -> None:
    """Hidden units in another order compute the same; the variants after it would be measured on other weights."""
    bench = Bench(small.swiglu(dtype))
    before = bench.inputs.gate.clone()

    def reorders(s: SwiGLU) -> Tensor:
        for weight in (s.gate.T, s.up.T, s.down):  # [..., hidden]
            weight.copy_(weight.roll(1, -1))
        return swiglu.unfused(s)

    refused(bench, reorders, "it changes its weights")
    assert torch.equal(bench.inputs.gate, before)


def test_weights_are_put_back_where_the_output_is_wrong_already(norm: Bench) -> None:
    before = norm.inputs.weight.clone()

    def spoils(n: ResidualRMSNorm) -> Norms:
        total, normed = functional(n)
        n.weight.mul_(2)
        return total, normed * 2

    assert not norm.check(spoils).passed
    assert torch.equal(norm.inputs.weight, before)
    assert norm.check(functional).passed


def test_inputs_are_put_back_where_the_variant_raises(norm: Bench) -> None:
    before = norm.inputs.x.clone()

    def breaks(n: ResidualRMSNorm) -> Norms:
        n.x.zero_()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        norm.check(breaks)
    assert torch.equal(norm.inputs.x, before)


def test_heads_in_another_order(ladder: Bench) -> None:
    refused(ladder, lambda a: attention.naive(a).flip(1), "relative error")


def test_heads_and_rows_taken_for_each_other(ladder: Bench) -> None:
    def transposed(a: Attention) -> Tensor:
        output = attention.naive(a)
        return output.transpose(1, 2).reshape(output.shape)

    refused(ladder, transposed, "relative error")


def test_groups_of_heads_that_share_the_wrong_key() -> None:
    bench = Bench(small.attention(kv_heads=2))

    def interleaved(a: Attention) -> Tensor:
        key, value = (one.repeat(1, 2, 1, 1) for one in (a.key, a.value))
        return attention.naive(replace(a, key=key, value=value))

    refused(bench, interleaved, "relative error")
