"""The attention ladder as an H200 measured it (B8 H16 S2048 D64 causal bf16), as run records for tests.

Kernel times, counts, memory and errors are measured ones; the spreads around the medians are made up.
"""

from __future__ import annotations

from collections.abc import Sequence

from profiles.comparison.entry import MeasuredEntry, entries_of
from profiles.environment import Environment
from profiles.plan import Plan
from profiles.results import (
    Correctness,
    Counts,
    Failure,
    FailureKind,
    KernelUse,
    Metric,
    Receipt,
    Results,
    Role,
    Run,
    RunStatus,
    Trial,
)
from profiles.workload import DType, Workload

MIB = 1 << 20
STAGES = ("scores", "scale", "mask", "softmax", "values")
FLOPS = 68.8e9

H200 = Environment(
    device="cuda",
    device_name="NVIDIA H200",
    memory_bytes=139 << 30,
    cores=16,
    driver="580.65",
    cuda="13.0",
    cudnn="9.19",
    torch="2.11.0",
    triton="3.6.0",
    transformers="5.17.0",
    python="3.12.3",
    platform="Linux",
)

WORKLOAD = Workload(
    operation="attention",
    dtype=DType.BF16,
    axes={
        "batch": 8,
        "heads": 16,
        "kv_heads": 16,
        "seq_q": 2048,
        "seq_kv": 2048,
        "head_dim": 64,
        "causal": True,
    },
)


def use(short: str, role: Role, us: float, *stages: str, position: int, calls: int = 1, name: str = "") -> KernelUse:
    ns = round(us * 1000)
    return KernelUse(
        name=name or f"void at::native::{short}<c10::BFloat16>",
        short_name=short,
        role=role,
        stages=stages,
        calls=calls,
        total_ns=ns,
        min_ns=round(ns * 0.99),
        max_ns=round(ns * 1.01),
        position=position,
    )


def spread(name: str, us: float, *, width: float = 0.004, doubt: str | None = None) -> Metric:
    ns = us * 1000
    samples = tuple(ns * (1 + width * (i - 15) / 15) for i in range(30))
    return Metric(
        name=name,
        unit="ns",
        statistic="median",
        value=ns,
        low=ns * (1 - width / 2),
        high=ns * (1 + width / 2),
        interval="p25-p75",
        samples=samples,
        doubt=doubt,
    )


def one(name: str, unit: str, value: float, statistic: str = "max") -> Metric:
    return Metric(name=name, unit=unit, statistic=statistic, value=value)


def measured(
    variant: str,
    *,
    gpu_us: float,
    call_us: float,
    memory_mib: float,
    error: float,
    counts: Counts,
    kernels: Sequence[KernelUse],
    receipt: Receipt | None = None,
    width: float = 0.004,
    call_doubt: str | None = None,
) -> Run:
    return Run(
        variant=variant,
        status=RunStatus.SUCCEEDED,
        metrics=(
            spread("gpu_time", gpu_us, width=width),
            spread("call_time", call_us, width=width, doubt=call_doubt),
            one("first_call", "ns", call_us * 1000 * 40, "single"),
            one("peak_memory", "bytes", memory_mib * MIB),
            one("useful_tflops", "TFLOP/s", FLOPS / (gpu_us * 1e6), "median"),
        ),
        counts=counts,
        correctness=Correctness(relative_l2=error, max_abs=error * 4, nonfinite=0, tolerance=1e-2, passed=True),
        receipt=receipt,
        kernels=tuple(kernels),
    )


def counts(kernels: int, memcpy: int = 0, memset: int = 0) -> Counts:
    return Counts(kernels=kernels, memcpy=memcpy, memset=memset, launches=kernels, graph_launches=0)


def pinned(name: str) -> Receipt:
    others = {b: "not the pinned backend" for b in ("cudnn", "flash", "efficient", "math") if b != name}
    return Receipt(asked=name, ran=name, order=("cudnn", "flash", "efficient", "math"), refusals=others)


def _naive_uses() -> list[KernelUse]:
    return [
        use("nvjet 256×128", Role.GEMM, 323.3, "scores", position=0, name="nvjet_tst_256x128_64x4_1x2_h_bz_coopA_NNT"),
        use("mul (scalar)", Role.POINTWISE, 502.8, "scale", position=1),
        use("Memcpy DtoD", Role.COPY, 519.0, "mask", position=2, name="Memcpy DtoD (Device -> Device)"),
        use("masked_fill", Role.POINTWISE, 1422.8, "mask", position=3),
        use("softmax_warp_fwd", Role.SOFTMAX, 1463.1, "softmax", position=4),
        use("nvjet 64×512", Role.GEMM, 297.2, "values", position=5),
    ]


def _inplace_uses() -> list[KernelUse]:
    return [
        use("nvjet 256×128", Role.GEMM, 323.6, "scores", position=0),
        use("mul (scalar)", Role.POINTWISE, 502.1, "scale", position=1),
        use("masked_fill_", Role.POINTWISE, 1423.0, "mask", position=2),
        use("softmax_warp_fwd", Role.SOFTMAX, 1462.0, "softmax", position=3),
        use("nvjet 64×512", Role.GEMM, 295.0, "values", position=4),
    ]


def _math_uses() -> list[KernelUse]:
    return [
        use("cast to fp32", Role.POINTWISE, 149.0, position=0, calls=3),
        use("mul (scalar)", Role.POINTWISE, 66.0, position=1, calls=2),
        use("xmma gemm f32", Role.GEMM, 2019.0, position=2),
        use("fill", Role.POINTWISE, 8.0, position=3, calls=2),
        use("tril", Role.POINTWISE, 12.0, position=4),
        use("where", Role.POINTWISE, 8.0, position=5),
        use("add (mask)", Role.POINTWISE, 1628.0, position=6),
        use("softmax_warp_fwd f32", Role.SOFTMAX, 1333.0, position=7),
        use("eq, any", Role.REDUCTION, 600.0, position=8, calls=3),
        use("where (safe softmax)", Role.POINTWISE, 900.0, position=9, calls=2),
        use("xmma gemm f32 nn", Role.GEMM, 2700.0, position=10),
        use("cast to bf16", Role.POINTWISE, 132.0, position=11, calls=3),
    ]


def _fused_use(short: str, us: float, name: str) -> list[KernelUse]:
    return [use(short, Role.ATTENTION, us, *STAGES, position=0, name=name)]


CUDNN = "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_3_64x64x128_4x1x1_cga1x1x1_kernel0_0"
FLASH = "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, bfloat16_t>>"
FMHA = "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel)"


def ladder_runs() -> tuple[Run, ...]:
    """In the catalogue's order: A naive … G sdpa_cudnn."""
    return (
        measured(
            "naive",
            gpu_us=4531.5,
            call_us=4546.0,
            memory_mib=2112,
            error=3.7e-3,
            counts=counts(5, 1, 2),
            kernels=_naive_uses(),
        ),
        measured(
            "naive_inplace",
            gpu_us=4012.7,
            call_us=4019.0,
            memory_mib=2080,
            error=3.7e-3,
            counts=counts(5, 0, 2),
            kernels=_inplace_uses(),
        ),
        measured(
            "sdpa_auto",
            gpu_us=178.5,
            call_us=209.7,
            memory_mib=32,
            error=2.0e-3,
            counts=counts(1, 0, 1),
            kernels=_fused_use("cudnn sdpa_sm90_flash_fprop", 178.0, CUDNN),
            receipt=Receipt(
                asked="auto",
                ran="cudnn",
                order=("cudnn", "flash", "efficient", "math"),
                refusals={},
                detail="order by priority: the first eligible backend runs",
            ),
        ),
        measured(
            "sdpa_math",
            gpu_us=10162.8,
            call_us=10170.0,
            memory_mib=4880,
            error=1.6e-3,
            counts=counts(20),
            kernels=_math_uses(),
            receipt=pinned("math"),
        ),
        measured(
            "sdpa_flash",
            gpu_us=277.1,
            call_us=362.8,
            memory_mib=33,
            error=2.0e-3,
            counts=counts(1),
            kernels=_fused_use("flash_fwd_kernel<64,128>", 277.0, FLASH),
            receipt=pinned("flash"),
        ),
        measured(
            "sdpa_efficient",
            gpu_us=596.1,
            call_us=695.1,
            memory_mib=32,
            error=2.0e-3,
            counts=counts(1),
            kernels=_fused_use("fmha_cutlassF_bf16_64×64", 596.0, FMHA),
            receipt=pinned("efficient"),
        ),
        measured(
            "sdpa_cudnn",
            gpu_us=181.6,
            call_us=281.5,
            memory_mib=32,
            error=2.0e-3,
            counts=counts(1, 0, 1),
            kernels=_fused_use("cudnn sdpa_sm90_flash_fprop", 181.0, CUDNN),
            receipt=pinned("cudnn"),
            call_doubt="the two halves of the samples differ by 6 %",
        ),
    )


def refused(variant: str, reason: str) -> Run:
    failure = Failure(kind=FailureKind.UNSUPPORTED, message=reason)
    return Run(variant=variant, status=RunStatus.REFUSED, failure=failure)


def failed(variant: str, kind: FailureKind, message: str) -> Run:
    return Run(variant=variant, status=RunStatus.FAILED, failure=Failure(kind=kind, message=message))


def results(*runs: Run, workload: Workload = WORKLOAD, environment: Environment = H200) -> Results:
    trial = Trial(workload=workload, runs=runs)
    return Results(preset=None, plan=Plan(), environment=environment, trials=(trial,), name="Attention ladder, S 2048")


def ladder(*more: Run) -> tuple[MeasuredEntry, ...]:
    """The seven measured variants, then `more`."""
    return entries_of(results(*ladder_runs(), *more))
