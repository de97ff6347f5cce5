"""Requests and runs that tests of the database store."""

from __future__ import annotations

import msgspec

from db.jobs import submit_job
from db.runs import store_run
from db.session import Database
from db.trials import claim_trial, finish_trial
from db.views import JobView, TrialStatus
from profiles.environment import Environment
from profiles.job import JobRequest, TrialRequest
from profiles.results import (
    Conditions,
    Correctness,
    Counts,
    Failure,
    FailureKind,
    KernelUse,
    Metric,
    Receipt,
    Role,
    Run,
    RunStatus,
)
from profiles.workload import DType, Workload

CPU = Environment(device="cpu", device_name="a CPU", cores=8, torch="2.13.0", python="3.12.3", platform="linux x86_64")
H200 = Environment(
    device="cuda",
    device_name="NVIDIA H200",
    memory_bytes=150_000_000_000,
    driver="580.65",
    cuda="13.0",
    torch="2.11.0",
    python="3.12.3",
    platform="linux x86_64",
)
RAN_OUT = Failure(kind=FailureKind.OUT_OF_MEMORY, message="CUDA out of memory: tried to allocate 2.00 GiB")


def attention(seq: int = 512) -> Workload:
    axes = {"batch": 1, "heads": 8, "kv_heads": 8, "seq_q": seq, "seq_kv": seq, "head_dim": 64, "causal": True}
    return Workload(operation="attention", axes=axes, dtype=DType.FP32)


def norm() -> Workload:
    return Workload(operation="residual_rms_norm", axes={"rows": 1024, "width": 1024}, dtype=DType.FP32)


def ladder(*variants: str, name: str = "Ladder", device: str = "cpu", trials: int = 1) -> JobRequest:
    """A job of attention trials, each of another length."""
    named = variants or ("naive", "sdpa_flash")
    requests = tuple(TrialRequest(workload=attention(512 * (n + 1)), variants=named) for n in range(trials))
    return JobRequest(name=name, device=device, trials=requests)


def measured(variant: str, *, gpu_time_ns: float = 178_500.0, kernel: str = "fmha_forward_kernel<64>") -> Run:
    return Run(
        variant=variant,
        status=RunStatus.SUCCEEDED,
        metrics=(
            Metric(
                name="gpu_time",
                unit="ns",
                statistic="median",
                value=gpu_time_ns,
                low=gpu_time_ns - 100,
                high=gpu_time_ns + 0.1,
                interval="p25-p75",
                samples=(gpu_time_ns, gpu_time_ns + 0.1, 1e300),
            ),
            Metric(name="peak_memory", unit="bytes", statistic="max", value=32.0 * 2**20, doubt="the pool was shared"),
        ),
        counts=Counts(kernels=1, memcpy=0, memset=2, launches=1, graph_launches=0),
        correctness=Correctness(relative_l2=2e-3, max_abs=0.01, nonfinite=0, tolerance=1e-2, passed=True),
        receipt=Receipt(asked="sdpa_flash", ran="flash", refusals={"efficient": "not asked", "cudnn": "fp32"}),
        kernels=(
            KernelUse(
                name=kernel,
                short_name="fmha_forward",
                role=Role.ATTENTION,
                stages=("scores", "softmax", "values"),
                calls=1,
                total_ns=178_001,
                min_ns=177_000,
                max_ns=179_000,
                position=0,
            ),
        ),
        conditions=Conditions(host="bench-3", started_at="2026-11-28T14:22:00.250000+00:00", duration_s=1.5),
    )


def in_brief(run: Run) -> Run:
    """As lists show it."""
    metrics = tuple(msgspec.structs.replace(m, samples=None, builds=None, at_s=None) for m in run.metrics)
    return msgspec.structs.replace(run, metrics=metrics, kernels=(), blocks=(), twin=())


def refused(variant: str) -> Run:
    failure = Failure(kind=FailureKind.UNSUPPORTED, message="needs a cuda device, this worker has cpu")
    return Run(variant=variant, status=RunStatus.REFUSED, failure=failure)


def failed(variant: str, failure: Failure = RAN_OUT) -> Run:
    return Run(variant=variant, status=RunStatus.FAILED, failure=failure)


def submit_and_claim(db: Database, *variants: str, worker: str = "w1") -> tuple[JobView, int, int]:
    """(job, its only trial's id, attempt)."""
    job = submit_job(db, ladder(*variants))
    trial_id = job.trials[0].id
    attempt = claim_trial(db, trial_id, worker=worker)
    assert attempt is not None
    return job, trial_id, attempt


def measure(db: Database, *runs: Run, name: str = "Ladder", environment: Environment = CPU) -> JobView:
    """A finished job of one trial with these runs."""
    job = submit_job(db, ladder(*(run.variant for run in runs), name=name))
    trial_id = job.trials[0].id
    attempt = claim_trial(db, trial_id, worker="w1")
    assert attempt is not None
    for run in runs:
        assert store_run(db, trial_id=trial_id, worker="w1", attempt=attempt, run=run, environment=environment)
    assert finish_trial(db, trial_id, worker="w1", attempt=attempt, status=TrialStatus.DONE)
    return job
