"""Other shapes of comparison for tests: fusion pairs, a whole model, and the ladder on a CPU."""

from __future__ import annotations

from profiles.environment import Environment
from profiles.results import Correctness, Counts, KernelUse, Receipt, Role, Run, RunStatus
from profiles.workload import DType, Workload
from tests.profiles.comparison.ladder import MIB, STAGES, counts, measured, one, spread, use

CPU = Environment(
    device="cpu",
    device_name="AMD EPYC 9654",
    memory_bytes=16 << 30,
    cores=2,
    torch="2.13.0",
    python="3.11.9",
    platform="Linux",
)

CPU_LADDER = Workload(
    operation="attention",
    dtype=DType.FP32,
    axes={"batch": 1, "heads": 8, "kv_heads": 8, "seq_q": 512, "seq_kv": 512, "head_dim": 64, "causal": True},
)
SWIGLU = Workload(operation="swiglu", dtype=DType.BF16, axes={"rows": 8192, "width": 2048, "hidden": 5632})
NORM = Workload(operation="residual_rms_norm", dtype=DType.BF16, axes={"rows": 8192, "width": 2048})
DECODER = Workload(
    operation="decoder_prefill", dtype=DType.BF16, axes={"model": "qwen2.5-1.5b", "batch": 4, "seq": 2048}
)


def on_cpu(variant: str, call_us: float, kernels: list[KernelUse], receipt: Receipt | None = None) -> Run:
    return Run(
        variant=variant,
        status=RunStatus.SUCCEEDED,
        metrics=(
            spread("call_time", call_us, width=0.06),
            one("first_call", "ns", call_us * 3000, "single"),
            one("peak_memory", "bytes", 17.5 * MIB),
        ),
        counts=Counts(operators=sum(k.calls for k in kernels)),
        correctness=Correctness(relative_l2=2.1e-7, max_abs=1e-6, nonfinite=0, tolerance=1e-5, passed=True),
        receipt=receipt,
        kernels=tuple(kernels),
    )


def cpu_runs() -> list[Run]:
    """6, 5 and 1 operators."""
    naive = [
        use("bmm", Role.GEMM, 1500.0, "scores", position=0, name="aten::bmm"),
        use("mul", Role.POINTWISE, 700.0, "scale", position=1, name="aten::mul"),
        use("copy_", Role.COPY, 600.0, "mask", position=2, name="aten::copy_"),
        use("masked_fill_", Role.POINTWISE, 900.0, "mask", position=3, name="aten::masked_fill_"),
        use("_softmax", Role.SOFTMAX, 1100.0, "softmax", position=4, name="aten::_softmax"),
        use("bmm", Role.GEMM, 1400.0, "values", position=5, name="aten::bmm (values)"),
    ]
    flash = [use("flash attention", Role.ATTENTION, 1900.0, *STAGES, position=0, name="aten::_flash_for_cpu")]
    asked = Receipt(asked="flash", ran="flash")
    return [
        on_cpu("naive", 6300.0, naive),
        on_cpu("naive_inplace", 6100.0, [k for k in naive if k.role is not Role.COPY]),
        on_cpu("sdpa_flash", 1950.0, flash, asked),
    ]


def swiglu_runs() -> list[Run]:
    eager = [
        use("nvjet 256×128", Role.GEMM, 262.0, "gate", position=0),
        use("nvjet 256×128", Role.GEMM, 263.0, "up", position=1, name="second"),
        use("silu", Role.POINTWISE, 44.0, "silu", position=2),
        use("mul", Role.POINTWISE, 66.0, "multiply", position=3),
        use("nvjet 128×256", Role.GEMM, 266.0, "down", position=4),
    ]
    compiled = [
        use("nvjet 256×128", Role.GEMM, 525.0, position=0, calls=2),
        use("triton_poi_fused_mul_silu_0", Role.POINTWISE, 58.0, position=1),
        use("nvjet 128×256", Role.GEMM, 266.0, position=2),
    ]
    return [
        measured("unfused", gpu_us=905, call_us=911, memory_mib=264, error=2.4e-3, counts=counts(5), kernels=eager),
        measured(
            "unfused@compile", gpu_us=854, call_us=880, memory_mib=176, error=2.4e-3, counts=counts(4), kernels=compiled
        ),
    ]


def norm_runs() -> list[Run]:
    """The compiled one is faster on the GPU and slower when the host sets the pace."""
    names = ("add", "pow", "mean", "rsqrt", "mul", "mul weight")
    stages = ("add", "square", "mean", "rsqrt", "scale", "scale")
    eager = [
        use(name, Role.REDUCTION if name == "mean" else Role.POINTWISE, 20.0 + 3 * i, stages[i], position=i, name=name)
        for i, name in enumerate(names)
    ]
    fused = [use("triton_red_fused_add_mean_pow_rsqrt_0", Role.NORM, 26.0, position=0)]
    two = [
        use("add", Role.POINTWISE, 22.0, "add", position=0),
        use("rms_norm", Role.NORM, 25.5, "square", "mean", "rsqrt", "scale", position=1),
    ]
    return [
        measured("unfused", gpu_us=168, call_us=171, memory_mib=96, error=2e-3, counts=counts(6), kernels=eager),
        measured("unfused@compile", gpu_us=26, call_us=88, memory_mib=32, error=2e-3, counts=counts(1), kernels=fused),
        measured("functional", gpu_us=48.5, call_us=58, memory_mib=64, error=2e-3, counts=counts(2), kernels=two),
        measured(
            "functional@compile",
            gpu_us=26.02,
            call_us=87.8,
            memory_mib=32,
            error=2e-3,
            counts=counts(1),
            kernels=fused,
        ),
    ]


def decoder_runs() -> list[Run]:
    def model(variant: str, ms: float, tokens: float, kernels: int, uses: list[KernelUse]) -> Run:
        run = measured(
            variant,
            gpu_us=ms * 1000,
            call_us=ms * 1005,
            memory_mib=9200,
            error=4e-3,
            counts=counts(kernels),
            kernels=uses,
        )
        metrics = tuple(m for m in run.metrics if m.name != "useful_tflops")
        return Run(
            variant=variant,
            status=run.status,
            metrics=(*metrics, one("tokens_per_s", "1/s", tokens, "median")),
            counts=run.counts,
            correctness=run.correctness,
            kernels=run.kernels,
        )

    names = [f"kernel_{i:02d}" for i in range(36)]
    rest = [
        use(name, Role.POINTWISE if i % 3 else Role.GEMM, 700.0 + 40 * i, position=i, calls=28, name=name)
        for i, name in enumerate(names)
    ]
    flash = [*rest, use("flash_fwd_kernel", Role.ATTENTION, 2400.0, position=36, calls=28, name="flash")]
    soft = [*rest, use("softmax_warp_fwd", Role.SOFTMAX, 41_000.0, position=36, calls=28, name="softmax")]
    return [model("eager", 122.3, 67_000.0, 1383, soft), model("sdpa", 56.5, 145_000.0, 1094, flash)]
