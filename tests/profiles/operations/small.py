"""Small workloads, and the error of an output against its reference."""

from __future__ import annotations

import torch
from torch import Tensor

from profiles.workload import AxisValue, Distribution, DType, Workload

CPU = torch.device("cpu")


def attention(
    dtype: DType = DType.FP32, distribution: Distribution = Distribution.NORMAL, **axes: AxisValue
) -> Workload:
    sizes = {"batch": 2, "heads": 4, "kv_heads": 4, "seq_q": 48, "seq_kv": 48, "head_dim": 16, "causal": True}
    return Workload(operation="attention", axes={**sizes, **axes}, dtype=dtype, distribution=distribution)


def swiglu(dtype: DType = DType.FP32) -> Workload:
    return Workload(operation="swiglu", axes={"rows": 24, "width": 32, "hidden": 80}, dtype=dtype)


def residual_rms_norm(dtype: DType = DType.FP32) -> Workload:
    return Workload(operation="residual_rms_norm", axes={"rows": 24, "width": 64}, dtype=dtype)


def decoder_prefill(dtype: DType = DType.FP32, distribution: Distribution = Distribution.NORMAL) -> Workload:
    axes: dict[str, AxisValue] = {"model": "tiny", "batch": 2, "seq": 12}
    return Workload(operation="decoder_prefill", axes=axes, dtype=dtype, distribution=distribution)


def relative_error(output: Tensor, reference: Tensor) -> float:
    return float((output.double() - reference).norm() / reference.norm())
