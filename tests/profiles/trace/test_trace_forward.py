"""What a forward pass does: on recordings of our own from a CPU and an H200, and on hand-made traces."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from profiles.results import Counts, Role
from profiles.trace.forward import ForwardSummary, per_forward
from profiles.trace.model import Trace
from profiles.trace.read import read_trace

if TYPE_CHECKING:
    from conftest import Draft

ReadDraft = Callable[["Draft"], Trace]


def _recorded(recordings: Path, name: str) -> ForwardSummary:
    device = "cpu" if name.startswith("cpu") else "cuda:0"
    return per_forward(read_trace(recordings / f"{name}.json.gz"), device=device)


def _listed(forward: ForwardSummary) -> list[tuple[str, int, Role]]:
    return [(use.short_name, use.calls, use.role) for use in forward.kernels]


@pytest.mark.parametrize(
    ("name", "operators"), [("naive", 6), ("naive_inplace", 5), ("sdpa_flash", 1), ("swiglu_compiled", 4)]
)
def test_the_ladder_on_a_cpu_in_compute_operators(recordings: Path, name: str, operators: int) -> None:
    forward = _recorded(recordings, f"cpu_{name}")
    assert forward.counts == Counts(operators=operators)
    assert sum(use.calls for use in forward.kernels) == operators
    assert forward.findings == ()
    assert forward.device_time_ns == ()


def test_the_operators_of_naive_attention_by_name_role_and_stage(recordings: Path) -> None:
    forward = _recorded(recordings, "cpu_naive")
    assert [(use.name, use.role, use.stages) for use in forward.kernels] == [
        ("aten::bmm", Role.GEMM, ("scores",)),
        ("aten::mul", Role.POINTWISE, ("scale",)),
        ("aten::copy_", Role.COPY, ("mask",)),
        ("aten::masked_fill_", Role.POINTWISE, ("mask",)),
        ("aten::_softmax", Role.SOFTMAX, ("softmax",)),
        ("aten::bmm", Role.GEMM, ("values",)),
    ]
    assert {use.short_name for use in forward.kernels if use.name == "aten::bmm"} == {"bmm"}
    assert [use.position for use in forward.kernels] == list(range(6))


def test_inductors_kernels_on_a_cpu_count_by_name(recordings: Path) -> None:
    assert _listed(_recorded(recordings, "cpu_swiglu_compiled")) == [
        ("mm", 3, Role.GEMM),
        ("cpp_fused_mul_silu_0", 1, Role.POINTWISE),
    ]


def test_compiled_code_that_left_no_records_gives_no_count(recordings: Path) -> None:
    forward = _recorded(recordings, "cpu_swiglu_compiled_hidden")
    assert forward.counts == Counts()
    assert [finding.code for finding in forward.findings] == ["compiled_kernels_hidden"]


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("naive", Counts(kernels=5, memcpy=1, memset=0, launches=5, graph_launches=0)),
        ("naive_inplace", Counts(kernels=5, memcpy=0, memset=0, launches=5, graph_launches=0)),
        ("sdpa_math", Counts(kernels=20, memcpy=0, memset=0, launches=20, graph_launches=0)),
        ("sdpa_efficient", Counts(kernels=1, memcpy=0, memset=0, launches=1, graph_launches=0)),
        ("sdpa_flash", Counts(kernels=1, memcpy=0, memset=0, launches=1, graph_launches=0)),
        ("sdpa_cudnn", Counts(kernels=1, memcpy=0, memset=1, launches=1, graph_launches=0)),
        ("swiglu_compiled", Counts(kernels=4, memcpy=0, memset=0, launches=4, graph_launches=0)),
        ("swiglu_graph", Counts(kernels=5, memcpy=0, memset=0, launches=0, graph_launches=1)),
    ],
)
def test_the_ladder_on_an_h200(recordings: Path, name: str, counts: Counts) -> None:
    forward = _recorded(recordings, f"cuda_{name}")
    assert forward.counts == counts
    assert forward.findings == ()
    assert len(forward.device_time_ns) == 3
    assert all(time > 0 for time in forward.device_time_ns)


def test_the_kernels_of_naive_attention_on_an_h200(recordings: Path) -> None:
    forward = _recorded(recordings, "cuda_naive")
    assert [(use.short_name, use.role, use.stages) for use in forward.kernels] == [
        ("nvjet_sm90_tst_64x24_64x16_2x4_h_bz_TNT", Role.GEMM, ("scores",)),
        ("mul elementwise", Role.POINTWISE, ("scale",)),
        ("Memcpy DtoD", Role.COPY, ("mask",)),
        ("masked_fill elementwise", Role.POINTWISE, ("mask",)),
        ("softmax_warp_forward", Role.SOFTMAX, ("softmax",)),
        ("nvjet_sm90_tst_64x8_64x16_1x4_h_bz_NNT", Role.GEMM, ("values",)),
    ]


def test_a_kernels_times_are_the_median_least_and_greatest_of_the_passes(draft: Draft, read_draft: ReadDraft) -> None:
    for number, durations in enumerate([(5, 1), (7, 2), (6, 9)]):
        draft.forward(number, 100 * (number + 1), 50)
        for place, duration in enumerate(durations):
            draft.launched(100 * (number + 1) + 10 * place, 10 * number + place + 1, duration=duration, name="k")
    (use,) = per_forward(read_draft(draft), device="cuda:0").kernels
    assert (use.calls, use.total_ns, use.min_ns, use.max_ns) == (2, 9_000, 6_000, 15_000)


def test_device_time_is_the_sum_of_kernels_without_copies(draft: Draft, read_draft: ReadDraft) -> None:
    draft.forward(0, 100, 100)
    draft.launched(110, 1, duration=5)
    draft.launched(120, 2, duration=7)
    draft.call("cudaMemcpyAsync", 130, 3)
    draft.gpu(140, 50, 3, category="gpu_memcpy", name="Memcpy DtoD (Device -> Device)")
    forward = per_forward(read_draft(draft), device="cuda:0")
    assert forward.device_time_ns == (12_000,)
    assert forward.counts == Counts(kernels=2, memcpy=1, memset=0, launches=2, graph_launches=0)


def test_counts_that_differ_between_equal_passes_are_unstable(draft: Draft, read_draft: ReadDraft) -> None:
    correlation = 0
    for number, kernels in enumerate([2, 2, 1]):
        draft.forward(number, 1000 * number, 500)
        for place in range(kernels):
            correlation += 1
            draft.launched(1000 * number + 20 * place + 1, correlation)
    forward = per_forward(read_draft(draft), device="cuda:0")
    assert forward.counts.kernels == 2
    assert forward.counts.unstable == (2, 2, 1)
    assert {finding.doubtful for finding in forward.findings} == {
        ("counts.kernels", "steps.kernels"),
        ("counts.launches",),
    }


def test_missing_gpu_records_leave_the_launches_and_nothing_else(draft: Draft, read_draft: ReadDraft) -> None:
    draft.forward(0, 100, 100)
    draft.launch(110, 1)
    forward = per_forward(read_draft(draft), device="cuda:0")
    assert forward.counts == Counts(launches=1, graph_launches=0)
    assert forward.kernels == ()
    assert forward.device_time_ns == ()
    assert [finding.code for finding in forward.findings] == ["gpu_records_missing"]


@pytest.mark.parametrize("device", ["cpu", "cuda:0"])
def test_without_marked_passes_nothing_is_said_per_pass(draft: Draft, read_draft: ReadDraft, device: str) -> None:
    draft.launched(110, 1)
    forward = per_forward(read_draft(draft), device=device)
    assert forward.counts == Counts()
    assert [finding.code for finding in forward.findings] == ["no_steps"]


def test_a_stage_is_that_of_the_innermost_mark_around_the_launch(draft: Draft, read_draft: ReadDraft) -> None:
    draft.forward(0, 100, 100)
    draft.stage("scores+mask", 110, 40)
    draft.stage("softmax", 125, 10)
    for correlation, (start, name) in enumerate([(105, "none"), (115, "two"), (128, "inner"), (140, "two_again")], 1):
        draft.launched(start, correlation, name=name)
    forward = per_forward(read_draft(draft), device="cuda:0")
    assert {use.name: use.stages for use in forward.kernels} == {
        "none": (),
        "two": ("scores", "mask"),
        "inner": ("softmax",),
        "two_again": ("scores", "mask"),
    }


def test_wrappers_views_allocations_and_questions_are_no_compute_operators(draft: Draft, read_draft: ReadDraft) -> None:
    draft.forward(0, 0, 1000)
    draft.operator("aten::linear", 10, 100)
    draft.operator("aten::t", 15, 10)
    draft.operator("aten::addmm", 30, 60)
    draft.operator("aten::expand", 35, 5)
    draft.operator("aten::copy_", 45, 10)  # the bias, copied by addmm itself
    draft.operator("aten::empty", 200, 10)
    draft.operator("aten::contiguous", 220, 5)  # nothing to do
    draft.operator("aten::contiguous", 300, 50)
    draft.operator("aten::clone", 305, 40)
    draft.operator("aten::copy_", 310, 30)
    draft.operator("mylib::fused_thing", 400, 50)
    draft.operator("Torch-Compiled Region: 0/0", 500, 5)
    draft.operator("cpp_fused_mul_0", 502, 2)
    draft.operator("aten::relu", 600, 10, tid=2)  # another thread
    draft.operator("aten::_fused_sdp_choice", 700, 8)  # asks which backend, computes nothing
    forward = per_forward(read_draft(draft), device="cpu")
    assert [use.name for use in forward.kernels] == [
        "aten::addmm",
        "aten::copy_",
        "mylib::fused_thing",
        "cpp_fused_mul_0",
        "aten::relu",
    ]
    assert forward.counts.operators == 5


def test_each_kernel_of_naive_attention_knows_the_operator_that_launched_it(recordings: Path) -> None:
    forward = _recorded(recordings, "cuda_naive")
    assert forward.recorded is not None
    assert forward.recorded.launched_by == (
        ("aten::bmm",),
        ("aten::mul",),
        ("aten::copy_",),
        ("aten::masked_fill_",),
        ("aten::_softmax",),
        ("aten::bmm",),
    )


def test_a_graphs_kernels_were_launched_by_no_operator(recordings: Path) -> None:
    forward = _recorded(recordings, "cuda_swiglu_graph")
    assert forward.recorded is not None
    assert forward.recorded.launched_by == ((),) * len(forward.kernels)
