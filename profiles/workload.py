"""One input of an operation: axes, dtype, data distribution, seed. The catalogue says which axes an operation has."""

from __future__ import annotations

from enum import StrEnum

import msgspec

AxisValue = bool | int | str


class DType(StrEnum):
    BF16 = "bf16"
    FP16 = "fp16"
    FP32 = "fp32"


class Distribution(StrEnum):
    """Of the random inputs: `normal` is standard normal, `uniform` lies in [-1, 1). Zeros are never timed."""

    NORMAL = "normal"
    UNIFORM = "uniform"


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    operation: str
    axes: dict[str, AxisValue]
    dtype: DType
    distribution: Distribution = Distribution.NORMAL
    seed: int = 0
