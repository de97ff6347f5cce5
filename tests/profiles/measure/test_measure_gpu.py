"""On a GPU: the gate, the flush, the ladder's counts, and what a broken device does to the others."""

from __future__ import annotations

import gzip
import json
import time
from collections import Counter
from pathlib import Path

import pytest
import torch

from profiles.measure.cache_flush import CacheFlush
from profiles.measure.gate import Gate, event_ns
from profiles.measure.gpu_time import GatedTimer
from profiles.presets import request
from profiles.results import RunStatus
from profiles.workload import DType, Workload
from tests.profiles.measure.child import QUICK, Heard, heard_to_the_end, started

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"),
]


DEVICE = torch.device("cuda:0")


def timer() -> GatedTimer:
    torch.cuda.set_device(DEVICE)
    return GatedTimer(DEVICE, Gate())


def test_the_gate_holds_for_about_as_long_as_asked() -> None:
    gate = Gate()
    assert gate.available
    assert event_ns(lambda: gate.hold(5e6)) == pytest.approx(5e6, rel=0.2)


def test_host_work_between_launches_is_not_in_the_devices_time() -> None:
    x = torch.ones(1 << 20, device="cuda")

    def dawdles() -> torch.Tensor:
        y = x + 1
        time.sleep(0.005)
        return y + 1

    dawdles()
    gated = timer()
    samples = [gated.sample(dawdles) for _ in range(5)]
    assert gated.doubt is None
    assert gated.late >= 1  # the shortest gate is no match for five milliseconds
    assert max(sample.duration_ns for sample in samples) < 1e6  # two small kernels, not five milliseconds
    assert min(sample.enqueue_ns for sample in samples) > 5e6


def test_a_call_that_waits_for_the_device_cannot_be_gated_and_says_so() -> None:
    x = torch.ones(1 << 20, device="cuda")

    def waits() -> torch.Tensor:
        torch.cuda.synchronize()
        return x + 1

    gated = timer()
    assert gated.sample(waits).duration_ns > 0
    assert gated.doubt is not None
    assert "more than the gate can hold" in gated.doubt


def test_a_flushed_cache_makes_a_small_read_slower() -> None:
    x = torch.ones(2 << 20, device="cuda")  # 8 MiB: fits into the cache

    x.sum()
    gated, flush = timer(), CacheFlush(DEVICE)
    warm = sorted(gated.sample(x.sum).duration_ns for _ in range(15))[7]
    cold = sorted(gated.sample(x.sum, flush).duration_ns for _ in range(15))[7]
    assert cold > warm


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ladder")


@pytest.fixture(scope="module")
def ladder(directory: Path) -> Heard:
    trial = request("attention-ladder", device="cuda:0").trials[0]
    with started(directory, workload=trial.workload, variants=trial.variants, plan=QUICK, device="cuda:0") as child:
        return heard_to_the_end(child)


def test_the_published_ladder_has_its_device_time(ladder: Heard) -> None:
    assert ladder.code == 0
    for run in ladder.runs.values():
        assert run.status in {RunStatus.SUCCEEDED, RunStatus.REFUSED}, run.failure
        if run.status is RunStatus.SUCCEEDED:
            gpu_time = run.metric("gpu_time")
            assert gpu_time is not None
            assert gpu_time.doubt is None
            assert gpu_time.samples is not None
            assert len(gpu_time.samples) >= 20


@pytest.mark.parametrize(
    ("variant", "kernels", "copies"), [("naive", 5, 1), ("naive_inplace", 5, 0), ("sdpa_flash", 1, 0)]
)
def test_a_forward_has_the_published_kernels_and_copies(
    ladder: Heard, directory: Path, variant: str, kernels: int, copies: int
) -> None:
    trace = ladder.finished[variant].trace_file
    assert trace is not None
    with gzip.open(directory / trace) as file:
        categories = Counter(event.get("cat") for event in json.load(file)["traceEvents"])
    assert categories["kernel"] == kernels * QUICK.steps
    assert categories["gpu_memcpy"] == copies * QUICK.steps


def test_a_backend_that_cannot_take_the_dtype_is_refused_with_torchs_reason(tmp_path: Path) -> None:
    axes = {"batch": 1, "heads": 8, "kv_heads": 8, "seq_q": 128, "seq_kv": 128, "head_dim": 64, "causal": True}
    workload = Workload(operation="attention", axes=axes, dtype=DType.FP32)
    variants = ("sdpa_flash", "sdpa_cudnn", "sdpa_efficient")
    with started(tmp_path, workload=workload, variants=variants, plan=QUICK, device="cuda:0") as child:
        heard = heard_to_the_end(child)
    assert heard.runs["sdpa_efficient"].status is RunStatus.SUCCEEDED
    for variant in variants[:2]:
        failure = heard.runs[variant].failure
        assert heard.runs[variant].status is RunStatus.REFUSED
        assert failure is not None
        assert "dtype" in failure.message
