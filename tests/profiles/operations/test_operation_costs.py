"""What operations need at least and do as written, by numbers that can be counted on paper."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from small import attention, decoder_prefill, residual_rms_norm, swiglu
from torch.utils._python_dispatch import TorchDispatchMode

from profiles import catalog
from profiles.measure import loading
from profiles.operations import attention as attention_operation
from profiles.operations import decoder_prefill as decoder_operation
from profiles.operations import residual_rms_norm as norm_operation
from profiles.operations import swiglu as swiglu_operation
from profiles.workload import DType, Workload

OPERATIONS = (attention(), swiglu(), residual_rms_norm(), decoder_prefill())


def test_naive_causal_attention_touches_its_scores_ten_times_and_computes_the_masked_half() -> None:
    workload = attention(DType.BF16, batch=1, heads=1, kv_heads=1, seq_q=4, seq_kv=4, head_dim=8)
    costs = attention_operation.costs(workload, "naive")
    assert (costs.least_bytes, costs.read_bytes) == (4 * 4 * 8 * 2, 3 * 4 * 8 * 2)
    assert costs.moved_bytes == costs.least_bytes + 10 * 16 * 2
    assert (costs.useful_flops, costs.executed_flops) == (4 * 8 * 10, 4 * 8 * 16)
    assert costs.exponentials == 10


def test_without_a_mask_all_pairs_are_useful() -> None:
    costs = attention_operation.costs(attention(causal=False), None)
    assert costs.executed_flops == costs.useful_flops
    assert attention_operation.costs(attention(causal=True), None).executed_flops is None


def test_fused_attention_moves_no_scores() -> None:
    costs = attention_operation.costs(attention(), "sdpa_flash")
    assert costs.moved_bytes == costs.least_bytes
    assert costs.executed_flops == costs.useful_flops


def test_swiglu_as_written_moves_its_inner_rows_eight_times() -> None:
    costs = swiglu_operation.costs(swiglu(), "unfused")
    assert costs.moved_bytes == costs.least_bytes + 4 * (8 * 24 * 80 + 24 * 32)
    assert costs.read_bytes == costs.least_bytes - 4 * 24 * 32


class Moved(TorchDispatchMode):
    """Counts what each operator reads and writes; views move nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        output = func(*args, **(kwargs or {}))
        if not func.is_view and func is not torch.ops.aten._unsafe_view.default:
            outputs = output if isinstance(output, tuple) else (output,)
            self.bytes += sum(tensor.nbytes for tensor in (*args, *outputs) if isinstance(tensor, torch.Tensor))
        return output


@pytest.mark.parametrize(
    ("workload", "name"),
    [(swiglu(), "unfused"), (residual_rms_norm(), "unfused"), (attention(causal=False), "naive")],
    ids=lambda given: given if isinstance(given, str) else given.operation,
)
def test_what_code_moves_as_written_is_what_its_operators_read_and_write(workload: Workload, name: str) -> None:
    """Numbers of single rows (means, their inverse roots) and weights of a norm do not count: hence about."""
    module = loading.operation_module(workload)
    inputs = module.inputs(workload, torch.device("cpu"))
    with torch.no_grad(), Moved() as moved:
        loading.implementation(workload, name)(inputs)
    costs = loading.costs(module, workload, name)
    assert costs is not None
    assert costs.moved_bytes == pytest.approx(moved.bytes, rel=0.03)


def test_a_norm_moves_two_inputs_and_two_outputs_at_least() -> None:
    costs = norm_operation.costs(residual_rms_norm(DType.BF16), "functional")
    assert costs.moved_bytes == 5 * 24 * 64 * 2
    assert costs.useful_flops is None
    assert norm_operation.costs(residual_rms_norm(DType.BF16), "unfused").moved_bytes == 42 * 24 * 64
    assert norm_operation.costs(residual_rms_norm(DType.FP32), "unfused").moved_bytes == 40 * 24 * 64


def test_a_decoders_exponentials_are_those_of_all_its_layers() -> None:
    workload = decoder_prefill()
    config = decoder_operation._config(workload)
    costs = decoder_operation.costs(workload, "eager")
    assert costs.exponentials == 2 * config.num_hidden_layers * config.num_attention_heads * 12 * 13 // 2
    assert costs.executed_flops is not None
    assert costs.useful_flops is not None
    assert costs.executed_flops > costs.useful_flops


@pytest.mark.parametrize("workload", OPERATIONS, ids=lambda workload: workload.operation)
def test_every_variant_needs_no_more_than_it_does(workload: Workload) -> None:
    operation = catalog.operation(workload.operation)
    module = loading.operation_module(workload)
    for variant in catalog.variants(operation):
        costs = loading.costs(module, workload, str(variant))
        assert costs is not None
        assert costs.read_bytes is not None
        assert 0 < costs.read_bytes < costs.least_bytes <= (costs.moved_bytes or costs.least_bytes)
        assert (costs.executed_flops or costs.useful_flops or 0) >= (costs.useful_flops or 0)


def test_what_a_compiler_makes_of_the_code_moves_an_unknown_amount() -> None:
    compiled = loading.costs(loading.operation_module(swiglu()), swiglu(), "unfused@compile")
    assert compiled is not None
    assert compiled.moved_bytes is None


def test_the_bytes_of_the_inputs_are_those_that_are_read() -> None:
    for workload in (attention(causal=False), swiglu(), residual_rms_norm()):
        module = loading.operation_module(workload)
        inputs = module.inputs(workload, torch.device("cpu"))
        tensors = (
            [value for value in vars(inputs).values() if isinstance(value, torch.Tensor)]
            if hasattr(inputs, "__dict__")
            else [getattr(inputs, name) for name in inputs.__slots__]
        )
        costs = loading.costs(module, workload, "unfused")
        assert costs is not None
        assert costs.read_bytes == sum(tensor.nbytes for tensor in tensors if torch.is_tensor(tensor))
