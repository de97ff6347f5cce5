"""What NVIDIA's data sheets promise at most: the physical floor under any measured time. Dense rates, no sparsity."""

from __future__ import annotations

import re
from dataclasses import dataclass

from profiles.workload import DType

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Datasheet:
    """Memory in GB/s, matmuls in TFLOP/s at the boost clock; in fp32 those of TF32, which torch may be set to use."""

    name: str
    gb_per_s: float
    half_tflop_per_s: float
    tf32_tflop_per_s: float
    l2_bytes: int
    source: str

    @property
    def tflop_per_s(self) -> dict[DType, float]:
        half = self.half_tflop_per_s
        return {DType.BF16: half, DType.FP16: half, DType.FP32: self.tf32_tflop_per_s}


_H100_PAPER = "NVIDIA H100 Tensor Core GPU Architecture (white paper), and the data sheet"
_A100_PAPER = "NVIDIA A100 Tensor Core GPU Architecture (white paper), and the data sheet"
_ADA_PAPER = "NVIDIA Ada GPU Architecture (white paper), and the data sheet"

# By the name that the driver gives, the first that is found in it. Where the sheet gives rates with sparsity, half.
_SHEETS = (
    (r"\bB200\b", Datasheet("B200", 8000, 2250, 1125, 126 * MIB, "NVIDIA HGX B200 data sheet, per GPU")),
    (
        r"\bH200\b",
        Datasheet(
            "H200", 4800, 989.5, 494.7, 60 * MIB, "NVIDIA H200 data sheet (SXM); its L2 as the driver reports it"
        ),
    ),
    (r"\bH100 NVL\b", Datasheet("H100 NVL", 3938, 989.5, 494.7, 50 * MIB, _H100_PAPER)),
    (r"\bH100 PCIe\b", Datasheet("H100 PCIe", 2039, 756, 378, 50 * MIB, _H100_PAPER)),
    (r"\bH100\b", Datasheet("H100 SXM", 3352, 989.5, 494.7, 50 * MIB, _H100_PAPER)),
    (r"\bA100\b.*40GB", Datasheet("A100 40 GB", 1555, 312, 156, 40 * MIB, _A100_PAPER)),
    (r"\bA100\b", Datasheet("A100 80 GB", 2039, 312, 156, 40 * MIB, _A100_PAPER)),
    (r"\bL40S\b", Datasheet("L40S", 864, 366.5, 183.2, 96 * MIB, "NVIDIA L40S data sheet")),
    (r"\bL4\b", Datasheet("L4", 300, 121, 60, 48 * MIB, "NVIDIA L4 data sheet")),
    (r"\bA10\b", Datasheet("A10", 600, 125, 62.5, 6 * MIB, "NVIDIA A10 data sheet")),
    (r"\bRTX 4090\b(?! Laptop)", Datasheet("RTX 4090", 1008, 330.3, 82.6, 72 * MIB, _ADA_PAPER)),
)


def datasheet(device_name: str) -> Datasheet | None:
    """None for a device that is not in the table, and for a slice of one (MIG), which promises less."""
    if "MIG" in device_name:
        return None
    return next((sheet for pattern, sheet in _SHEETS if re.search(pattern, device_name)), None)
