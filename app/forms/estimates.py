"""How much memory a workload will want above its inputs: a forecast for the form, not a measurement.

Attention written out keeps two score matrices at once; the math backend computes in fp32 and keeps more than four
(4.8 of one bf16 matrix's size were measured on an H200). Fused backends keep the output alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from profiles.variant import parse_variant
from profiles.workload import DType, Workload

SIZE = {DType.BF16: 2, DType.FP16: 2, DType.FP32: 4}
SCORES_KEPT = {"naive": 2.0, "naive_inplace": 2.0}
MATH_SCORES_KEPT = {DType.BF16: 4.8, DType.FP16: 4.8, DType.FP32: 2.4}


def peak_memory(workload: Workload, variants: Iterable[str]) -> float | None:
    """Bytes that the hungriest of the variants will want, inputs included; None where it is not known beforehand."""
    sizes = [_bytes(workload, parse_variant(variant).implementation) for variant in variants]
    known = [size for size in sizes if size is not None]
    return max(known) if known and len(known) == len(sizes) else None


def _bytes(workload: Workload, implementation: str) -> float | None:
    axes = {name: int(value) for name, value in workload.axes.items() if not isinstance(value, str)}
    size = SIZE[workload.dtype]
    if workload.operation == "attention":
        return size * _attention_elements(axes, implementation, workload.dtype)
    if workload.operation == "swiglu":
        rows, width, hidden = (axes[name] for name in ("rows", "width", "hidden"))
        return size * (3 * width * hidden + 2 * rows * width + 4 * rows * hidden)
    if workload.operation == "residual_rms_norm":
        return size * 6 * axes["rows"] * axes["width"]
    return None


def _attention_elements(axes: dict[str, int], implementation: str, dtype: DType) -> float:
    batch, heads, head_dim = axes["batch"], axes["heads"], axes["head_dim"]
    queries = 2 * batch * heads * axes["seq_q"] * head_dim
    keys = 2 * batch * axes["kv_heads"] * axes["seq_kv"] * head_dim
    scores = prod((batch, heads, axes["seq_q"], axes["seq_kv"]))
    kept = MATH_SCORES_KEPT[dtype] if implementation == "sdpa_math" else SCORES_KEPT.get(implementation, 0.0)
    return queries + keys + kept * scores
