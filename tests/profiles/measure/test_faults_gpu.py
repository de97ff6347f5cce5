"""On a GPU: a broken CUDA context is one variant's, poison reaches what is handed out, honest variants pass."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
import torch

from profiles.measure.correctness import check
from profiles.measure.failures import ended
from profiles.measure.poison import poison_free_memory
from profiles.measure.subject import build
from profiles.presets import request
from profiles.results import FailureKind, RunStatus
from profiles.workload import DType, Workload
from tests.profiles.measure.checking import Bench
from tests.profiles.measure.child import QUICK, heard_to_the_end, isolated, started
from tests.profiles.measure.misbehaving import DEADLY, DOUBLING

DEVICE = torch.device("cuda:0")

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"),
]


@pytest.mark.parametrize("order", ["interleaved", "isolated"])
def test_an_index_out_of_range_breaks_the_context_of_its_own_variant_alone(order: str) -> None:
    variants = tuple(variant for variant in DEADLY if variant != "hangs_after_some_calls")
    plan = QUICK if order == "interleaved" else isolated(QUICK)
    program = "tests.profiles.measure.misbehaving"
    with (
        tempfile.TemporaryDirectory() as directory,
        started(
            Path(directory), workload=DOUBLING, variants=variants, plan=plan, device="cuda:0", program=program
        ) as child,
    ):
        heard = heard_to_the_end(child)
    failure = heard.runs["reads_out_of_bounds"].failure
    assert heard.code == 0
    assert heard.runs["well"].status is RunStatus.SUCCEEDED, heard.runs["well"].failure
    assert failure is not None
    assert failure.kind is FailureKind.CRASHED
    assert "device-side assert" in failure.message
    wanting = heard.runs["wants_too_much"].failure
    assert wanting is not None
    assert wanting.kind is FailureKind.OUT_OF_MEMORY


def test_all_memory_that_the_allocator_holds_free_is_poisoned() -> None:
    device = torch.device("cuda:0")
    held = [torch.zeros(size, device=device) for size in (1000, 300_000, 5_000_000)]
    sizes = [one.numel() for one in held]
    del held
    poison_free_memory([4 * sizes[1]], device)
    found = [torch.empty(size, device=device) for size in sizes]
    assert all(bool(one.isnan().all()) for one in found)


def test_a_tail_that_is_never_written_is_found_though_its_memory_was_right() -> None:
    bench = Bench(
        Workload(operation="swiglu", axes={"rows": 512, "width": 256, "hidden": 512}, dtype=DType.BF16), DEVICE
    )
    unfused = bench.named("unfused")

    def ends_early(s: object) -> torch.Tensor:
        whole = unfused(s)
        output = torch.empty_like(whole)
        output[:-7] = whole[:-7]
        return output

    found = bench.check(ends_early)
    assert (found.passed, found.rows_wrong) == (False, 7)
    assert found.reason is not None
    assert found.reason.startswith("7 of 512 rows are never written")


@pytest.mark.parametrize("preset", ["attention-ladder", "fusion-pairs"])
def test_honest_variants_of_the_presets_pass_on_a_gpu(preset: str) -> None:
    """Eager ones; those that this GPU refuses are left out."""
    for trial in request(preset, device="cuda:0").trials:
        bench = Bench(trial.workload, DEVICE)
        for variant in trial.variants:
            if "@" in variant:
                continue
            try:
                found = bench.check(bench.named(variant))
            except RuntimeError as error:
                if ended(variant, error).status is RunStatus.REFUSED:
                    continue
                raise
            assert found.passed, (variant, found.reason)
            assert found.row_error is not None
            assert found.row_allowed is not None
            assert found.row_error < found.row_allowed < 0.25


@pytest.mark.parametrize("execution", ["cudagraph", "compile-reduce-overhead"])
def test_replayed_graphs_pass_on_poisoned_memory_and_with_other_inputs(execution: str) -> None:
    """Their outputs are the same buffers every time, and their inputs are read where they lay when captured."""
    workload = Workload(operation="residual_rms_norm", axes={"rows": 256, "width": 512}, dtype=DType.BF16)
    bench = Bench(workload, DEVICE)
    with tempfile.TemporaryDirectory() as directory, torch.no_grad():
        subject = build(workload, f"unfused@{execution}", bench.inputs, device=DEVICE, compile_caches=Path(directory))
        with subject.context():
            found = check(subject.call, bench.yardstick)
    assert found.passed, found.reason
    assert found.deterministic


def test_attention_in_fp32_and_fp16_passes_on_a_gpu() -> None:
    axes = {"batch": 2, "heads": 4, "kv_heads": 2, "seq_q": 300, "seq_kv": 300, "head_dim": 64, "causal": True}
    for dtype in (DType.FP32, DType.FP16):
        bench = Bench(Workload(operation="attention", axes=dict(axes), dtype=dtype), DEVICE)
        for name in ("naive", "naive_inplace", "sdpa_auto", "sdpa_math"):
            found = bench.check(bench.named(name))
            assert found.passed, (dtype, name, found.reason)
