"""Presets: named sets of workloads, variants and plan that answer one question, sized for each kind of device."""

from __future__ import annotations

from dataclasses import dataclass, field

from profiles import catalog
from profiles.job import JobRequest, TrialRequest
from profiles.plan import CachePolicy, Order, Plan, Walk
from profiles.workload import AxisValue, DType, Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """`workloads` maps a device kind (`cpu`, `cuda`) to that kind's workloads; `variants` names those to measure on a
    kind, else it is the usual ones of each. Start has a card for those `on_start`."""

    name: str
    title: str
    question: str
    summary: str
    workloads: dict[str, tuple[Workload, ...]]
    plan: dict[str, Plan]
    variants: dict[str, tuple[str, ...]] = field(default_factory=dict)
    on_start: bool = True


def _workload(operation: str, dtype: DType, **axes: AxisValue) -> Workload:
    return Workload(operation=operation, dtype=dtype, axes=axes)


def _attention(dtype: DType, *, batch: int, heads: int, seq: int, head_dim: int) -> Workload:
    return _workload(
        "attention",
        dtype,
        batch=batch,
        heads=heads,
        kv_heads=heads,
        seq_q=seq,
        seq_kv=seq,
        head_dim=head_dim,
        causal=True,
    )


PRESETS = (
    Preset(
        name="attention-ladder",
        title="Attention ladder",
        question="Which attention is fastest, and what ran?",
        summary="7 variants of `attention`, checked before they are timed; refusals with reasons.",
        workloads={
            "cpu": (_attention(DType.FP32, batch=1, heads=8, seq=512, head_dim=64),),
            "cuda": (_attention(DType.BF16, batch=8, heads=16, seq=1024, head_dim=64),),
        },
        plan={"cpu": Plan(cache=CachePolicy.WARM, budget_s=15.0), "cuda": Plan(budget_s=30.0)},
    ),
    Preset(
        name="fusion-pairs",
        title="Fusion pairs",
        question="What did my fusion remove, and what is left?",
        summary="`swiglu` and `residual_rms_norm`, eager and compiled, kernel by kernel.",
        workloads={
            "cpu": (
                _workload("swiglu", DType.FP32, rows=256, width=512, hidden=1408),
                _workload("residual_rms_norm", DType.FP32, rows=1024, width=1024),
            ),
            "cuda": (
                _workload("swiglu", DType.BF16, rows=8192, width=2048, hidden=5632),
                _workload("residual_rms_norm", DType.BF16, rows=8192, width=2048),
            ),
        },
        plan={"cpu": Plan(cache=CachePolicy.WARM, budget_s=10.0), "cuda": Plan(budget_s=20.0)},
    ),
    Preset(
        name="decoder-end-to-end",
        title="Decoder end to end",
        question="Does the gain survive in a whole model?",
        summary="Prefill of a decoder with random weights, from the micro-benchmark to tokens per second.",
        workloads={
            "cpu": (_workload("decoder_prefill", DType.FP32, model="tiny", batch=1, seq=128),),
            "cuda": (_workload("decoder_prefill", DType.BF16, model="qwen2.5-1.5b", batch=4, seq=2048),),
        },
        plan={
            "cpu": Plan(cache=CachePolicy.WARM, order=Order.ISOLATED, budget_s=15.0),
            "cuda": Plan(order=Order.ISOLATED, budget_s=60.0),
        },
    ),
    Preset(
        name="shape-churn",
        title="Shape churn",
        question="What does a new shape cost?",
        summary="The first visit to each shape of a row, in a process of each variant's own, against the second.",
        workloads={
            # A CPU's attention keeps no plans; what a new shape costs there, a compiler shows.
            "cpu": (_workload("residual_rms_norm", DType.FP32, rows=1024, width=1024),),
            "cuda": (
                _workload(
                    "attention",
                    DType.BF16,
                    batch=8,
                    heads=12,
                    kv_heads=12,
                    seq_q=1,
                    seq_kv=512,
                    head_dim=128,
                    causal=False,
                ),
            ),
        },
        plan={
            "cpu": Plan(cache=CachePolicy.WARM, budget_s=5.0, walk=Walk(axis="rows", last=1080, step=8)),
            "cuda": Plan(budget_s=20.0, walk=Walk(axis="seq_kv", last=575)),
        },
        variants={"cpu": ("unfused", "functional", "functional@compile")},
        on_start=False,
    ),
)


class PresetError(ValueError):
    """A preset that does not exist."""


def preset(name: str) -> Preset:
    for candidate in PRESETS:
        if candidate.name == name:
            return candidate
    accepted = ", ".join(repr(p.name) for p in PRESETS)
    raise PresetError(f"unknown preset {name!r}; expected one of {accepted}")


def request(name: str, *, device: str) -> JobRequest:
    """The job that preset `name` is on a device class (`cpu`, `cuda` or `cuda:N`)."""
    chosen, kind = preset(name), device.partition(":")[0]
    if kind not in chosen.workloads:
        raise PresetError(f"preset {name!r} has no workloads for device {device!r}; expected 'cpu', 'cuda' or 'cuda:N'")
    trials = tuple(
        TrialRequest(
            workload=workload,
            variants=chosen.variants.get(kind) or _usual_variants(workload),
        )
        for workload in chosen.workloads[kind]
    )
    return JobRequest(name=chosen.title, device=device, trials=trials, plan=chosen.plan[kind], preset=name)


def _usual_variants(workload: Workload) -> tuple[str, ...]:
    return tuple(str(variant) for variant in catalog.usual_variants(catalog.operation(workload.operation)))
