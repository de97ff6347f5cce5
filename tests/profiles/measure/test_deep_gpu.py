"""A deep profile on a GPU: the forward pass that a tool looks at, and Nsight Compute itself where it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
import pytest
import torch

from profiles import lifeline
from profiles.measure.deep import deep_profile
from profiles.plan import Plan
from profiles.protocol import MeasureSpec
from profiles.workload import DType, Workload

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"),
]
WORKLOAD = Workload(
    operation="attention",
    axes={"batch": 2, "heads": 4, "kv_heads": 4, "seq_q": 256, "seq_kv": 256, "head_dim": 64, "causal": True},
    dtype=DType.BF16,
)


def _spec(directory: str) -> MeasureSpec:
    return MeasureSpec(
        workload=WORKLOAD,
        variants=("sdpa_flash",),
        plan=Plan(deep=True),
        device="cuda:0",
        directory=directory,
        events_fd=-1,
    )


def test_the_forward_pass_runs_by_itself() -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "spec.json"
        path.write_bytes(msgspec.json.encode(_spec(directory)))
        ended = subprocess.run(
            [sys.executable, "-m", "profiles.measure.forward", str(path), "sdpa_flash"],
            env=lifeline.environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.skipif(not (os.environ.get("NCU") or shutil.which("ncu")), reason="needs an NVIDIA GPU and Nsight Compute")
def test_nsight_compute_sees_one_kernel_of_flash_attention_or_says_that_it_may_not() -> None:
    with tempfile.TemporaryDirectory() as directory:
        found = deep_profile(_spec(directory), "sdpa_flash", time_limit_s=60)
    print(found)
    if found.failure is not None:
        assert "ERR_NVGPUCTRPERM" in found.failure
        return
    (kernel,) = found.kernels
    assert "flash" in kernel.name
    assert kernel.duration_ns
    assert 1e3 < kernel.duration_ns < 1e6
    assert kernel.registers
    assert kernel.dram_read_bytes is not None
