"""How much memory a workload will want above its inputs, and how long a plan lets it take: forecasts for the form.

Attention written out keeps two score matrices at once; the math backend computes in fp32 and keeps more than four
(4.8 of one bf16 matrix's size were measured on an H200). Fused backends keep the output alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from app.formatting import about, plural
from profiles.job import JobRequest, TrialRequest
from profiles.plan import Order, Plan
from profiles.variant import parse_variant
from profiles.workload import DType, Workload

SIZE = {DType.BF16: 2, DType.FP16: 2, DType.FP32: 4}
SCORES_KEPT = {"naive": 2.0, "naive_inplace": 2.0}
MATH_SCORES_KEPT = {DType.BF16: 4.8, DType.FP16: 4.8, DType.FP32: 2.4}
ENERGY_LOOP_S, IDLE_S = 5.0, 3.0  # of each variant; of the idle device, once per process


def peak_memory(workload: Workload, variants: Iterable[str]) -> float | None:
    """Bytes that the hungriest of the variants will want, inputs included; None where it is not known beforehand."""
    sizes = [_bytes(workload, parse_variant(variant).implementation) for variant in variants]
    known = [size for size in sizes if size is not None]
    return max(known) if known and len(known) == len(sizes) else None


def longest(request: JobRequest) -> str:
    """What timing may take, in words, and how many first visits come on top: what these take nobody knows before."""
    visits = first_visits(request)
    timing = f"at most {about(timing_s(request)).removeprefix('about ')} of timing"
    return f"{timing}, {plural(visits, 'first visit')}" if visits else timing


def timing_s(request: JobRequest) -> float:
    """The longest: variants that are told apart early end it, slow ones whose fewest samples take longer prolong it."""
    return sum(_timing_s(trial, request.plan) for trial in request.trials)


def first_visits(request: JobRequest) -> int:
    walk = request.plan.walk
    if walk is None:
        return 0
    return sum(len(walk.values(int(trial.workload.axes[walk.axis]))) * len(trial.variants) for trial in request.trials)


def _timing_s(trial: TrialRequest, plan: Plan) -> float:
    """Variants in processes of their own have the budget each."""
    variants = len(trial.variants)
    processes = variants if plan.order is Order.ISOLATED else 1
    energy_s = ENERGY_LOOP_S * variants + IDLE_S * processes if plan.energy else 0.0
    return plan.budget_s * processes + energy_s


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
