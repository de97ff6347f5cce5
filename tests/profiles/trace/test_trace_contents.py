"""What a trace holds for comparing: kernels by name and step, the order of launches, communication. Obvious traces,
and public ones against figures that another program found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from profiles.recorded import Attribution
from profiles.results import Role
from profiles.trace.child import parse_in_child
from profiles.trace.contents import MOST_STEPS, Caller, TraceContents, contents
from profiles.trace.kernel_table import kernel_table
from profiles.trace.model import Trace
from profiles.trace.read import read_trace
from profiles.trace.summary import summarise

if TYPE_CHECKING:
    from conftest import Draft

ReadDraft = Callable[["Draft"], Trace]


def step(draft: Draft, number: int, start: float, duration: float) -> None:
    draft.add("user_annotation", f"ProfilerStep#{number}", start, duration)


def by_name(held: TraceContents) -> dict[str, tuple[int, ...]]:
    return {kernel.name: kernel.per_step for kernel in held.kernels}


def test_a_kernel_is_of_the_step_that_launched_it_whenever_it_runs(draft: Draft, read_draft: ReadDraft) -> None:
    draft.launched(10, 1, name="before", duration=3)  # outside any step
    step(draft, 1, 100, 100)
    draft.launch(110, 2)
    draft.gpu(250, 7, 2, name="late")  # runs while step 2 is open
    step(draft, 2, 210, 100)
    draft.launched(220, 3, name="late", duration=9)
    draft.launched(240, 4, name="own", duration=2)
    held = contents(read_draft(draft))
    assert by_name(held) == {"late": (1, 1), "own": (0, 1), "before": (0, 0)}
    late = held.kernels[0]
    assert (late.calls, late.total_ns, late.per_step_ns) == (2, 16_000, (7_000, 9_000))
    assert [(one.name, one.work.kernels, one.work.launches) for one in held.steps] == [
        ("ProfilerStep#1", 1, 1),
        ("ProfilerStep#2", 2, 2),
    ]
    assert held.steps[0].host_ns == 100_000
    assert held.whole.kernels == 4


def test_percentiles_are_by_nearest_rank(draft: Draft, read_draft: ReadDraft) -> None:
    for number in range(1, 21):
        draft.launched(100 * number, number, name="twenty", duration=21 - number)
    draft.launched(5_000, 99, name="once", duration=4)
    twenty, once = contents(read_draft(draft)).kernels
    assert (twenty.min_ns, twenty.p50_ns, twenty.p95_ns, twenty.max_ns) == (1_000, 10_000, 19_000, 20_000)
    assert (once.min_ns, once.p50_ns, once.p95_ns, once.max_ns) == (4_000,) * 4


def test_where_a_step_is_not_told_no_kernel_has_steps(draft: Draft, read_draft: ReadDraft) -> None:
    step(draft, 1, 100, 100)
    draft.launched(110, 1, name="seen")
    draft.launch(150, 2)  # its kernel is missing
    held = contents(read_draft(draft))
    assert by_name(held) == {"seen": ()}
    assert [one.work.kernels for one in held.steps] == [None]
    assert held.steps[0].work.kernel_ns is None
    assert (held.typical, held.sequence) == (None, (0,))


def test_the_sequence_is_the_middle_step_by_launch(draft: Draft, read_draft: ReadDraft) -> None:
    for number, length in enumerate((5, 9, 7)):
        start = 1_000 * number
        step(draft, number, start, 500)
        draft.launch(start + 10, 10 * number + 1)
        draft.launch(start + 20, 10 * number + 2)
        draft.gpu(start + 300, length, 10 * number + 1, name="first")
        draft.gpu(start + 100, 1, 10 * number + 2, name="second", stream=8)  # runs before it
    step(draft, 9, 5_000, 500)  # a mark after the last step
    held = contents(read_draft(draft))
    assert held.typical == "ProfilerStep#2"
    assert [held.kernels[place].name for place in held.sequence] == ["first", "second"]
    assert held.durations_ns == (7_000, 1_000)


def test_kernels_of_one_operator_call_stand_together(draft: Draft, read_draft: ReadDraft) -> None:
    draft.operator("model", 0, 10_000)  # with more kernels than belong together
    correlation = 0
    for start, kernels in ((100, 3), (300, 1), (500, 9)):
        draft.operator("aten::linear", start, 150)
        draft.operator("aten::addmm", start + 1, 140)
        for place in range(kernels):
            correlation += 1
            draft.launched(start + 10 + 10 * place, correlation, name=f"k{kernels}")
    draft.launched(900, 99, name="bare")
    held = contents(read_draft(draft))
    assert held.instances == ("aten::linear", "aten::linear")
    assert held.instance_of == (0, 0, 0, 1, *[-1] * 9, -1)
    callers = [held.callers[place] if place >= 0 else None for place in held.caller_of]
    assert callers[0] == Caller(operators=("model", "aten::linear", "aten::addmm"))
    assert callers[-1] == Caller(operators=("model",))


def test_a_compiled_region_is_no_call_that_kernels_stand_together_by(draft: Draft, read_draft: ReadDraft) -> None:
    draft.operator("Torch-Compiled Region: 0/0", 0, 500)
    draft.operator("aten::mm", 100, 50)
    draft.launched(110, 1, name="gemm")
    draft.launched(200, 2, name="triton_poi_fused_mul_silu_0")
    held = contents(read_draft(draft))
    assert (held.instances, held.instance_of) == (("aten::mm",), (0, -1))


def test_operators_of_another_thread_or_that_have_ended_launched_nothing(draft: Draft, read_draft: ReadDraft) -> None:
    draft.operator("aten::mm", 100, 50, tid=2)
    draft.operator("aten::add", 50, 10)
    draft.launched(110, 1)
    held = contents(read_draft(draft))
    assert (held.callers, held.caller_of, held.kernels[0].launched_by) == ((), (-1,), ())


def test_communication_is_split_by_what_ran_beside_it(draft: Draft, read_draft: ReadDraft) -> None:
    step(draft, 1, 0, 100)
    draft.launch(1, 1)
    draft.launch(2, 2)
    draft.launch(3, 3)
    draft.gpu(200, 100, 1, name="ncclDevKernel_AllReduce_Sum_f32", stream=20)
    draft.gpu(150, 80, 2, name="gemm")  # 30 of it beside
    draft.gpu(250, 10, 3, name="gemm")
    work = contents(read_draft(draft)).steps[0].work
    assert (work.communication_ns, work.overlapped_ns) == (100_000, 40_000)
    assert (work.busy_ns, work.span_ns, work.kernel_ns) == (150_000, 150_000, 190_000)


def test_devices_are_not_held_against_each_other(draft: Draft, read_draft: ReadDraft) -> None:
    draft.launch(1, 1)
    draft.launch(2, 2)
    draft.gpu(100, 50, 1, name="ncclDevKernel_AllReduce_Sum_f32")
    draft.gpu(100, 50, 2, name="gemm", device=1)
    whole = contents(read_draft(draft)).whole
    assert (whole.busy_ns, whole.communication_ns, whole.overlapped_ns) == (100_000, 50_000, 0)


def test_steps_are_told_one_by_one_up_to_a_limit(draft: Draft, read_draft: ReadDraft) -> None:
    for number in range(MOST_STEPS + 5):
        step(draft, number, 100 * number, 50)
        draft.launched(100 * number + 1, number + 1)
    held = contents(read_draft(draft))
    assert (held.step_count, len(held.steps)) == (MOST_STEPS + 5, MOST_STEPS)
    assert held.kernels[0].per_step == (1,) * MOST_STEPS
    assert held.kernels[0].calls == MOST_STEPS + 5


def test_launches_within_operators_of_their_own_take_bounded_room(draft: Draft, read_draft: ReadDraft) -> None:
    number = 4_100
    for place in range(number):
        draft.operator(f"{place}::" + "x" * 2_000, 100 * place, 90)
        draft.launched(100 * place + 1, place + 1)
    held = contents(read_draft(draft))
    assert len(held.callers) == 4_000
    assert held.caller_of[-1] == -1  # not told, rather than another's
    assert len(held.sequence) == number
    assert max(len(name) for caller in held.callers for name in caller.operators) == 300
    assert len(msgspec.json.encode(held)) < 4_000_000


def test_an_empty_recording_holds_nothing(draft: Draft, read_draft: ReadDraft) -> None:
    draft.operator("aten::add", 1, 1)
    held = contents(read_draft(draft))
    assert (held.kernels, held.sequence, held.typical, held.rank, held.api) == ((), (), None, None, None)


def test_the_api_is_that_of_the_launching_calls(draft: Draft, read_draft: ReadDraft) -> None:
    draft.call("hipExtModuleLaunchKernel", 10, 1)
    draft.gpu(20, 5, 1)
    assert contents(read_draft(draft)).api == "hip"


def test_the_parse_child_hands_back_the_same_contents(draft: Draft, read_draft: ReadDraft, tmp_path: Path) -> None:
    step(draft, 1, 0, 100)
    draft.operator("aten::mm", 5, 50)
    draft.launched(10, 1, name="gemm")
    held = contents(read_draft(draft))
    parsed = parse_in_child(tmp_path / "trace.json", device=None, directory=tmp_path)
    assert parsed.contents == held
    assert held.kernels[0].role is Role.GEMM
    assert held.kernels[0].attribution == Attribution(exact=1)


@pytest.mark.parametrize(
    "name",
    [
        "03_a100_ddp_nccl_2rank_ns.json.gz",
        "04_a100_partial_graph_orphans_16rank.json.gz",
        "17_h100_qwen05b_decode_orphans.json.gz",
        "18_mi300x_qwen05b_decode_orphans.json.gz",
        "21_mi300x_sglang_decode_hipgraph.json.gz",
        "50_nsys_h100_2gpu_1s.sqlite",
    ],
)
def test_a_public_trace_adds_up_as_another_program_found(public_traces: Path, name: str) -> None:
    truth = json.loads((public_traces / "truth.json").read_text())[name]
    trace = read_trace(public_traces / name)
    held = contents(trace)
    assert sum(kernel.calls for kernel in held.kernels) == truth["kernels"] == held.whole.kernels
    assert sum(kernel.total_ns for kernel in held.kernels) == round(truth["kernel_sum_us"] * 1000)
    assert len(held.kernels) == truth["distinct_kernel_names"]
    assert held.whole.busy_ns == round(truth["busy_gpu_us"] * 1000)
    if "kernels_per_step" in truth:
        per_step = [sum(kernel.per_step[at] for kernel in held.kernels) for at in range(len(held.steps))]
        assert per_step == [truth["kernels_per_step"]] * truth["recorded_steps"]
        assert len(held.sequence) == truth["kernels_per_step"]
        times = [sum(kernel.per_step_ns[at] for kernel in held.kernels) for at in range(len(held.steps))]
        assert times == [one.work.kernel_ns for one in held.steps]
        assert sum(held.durations_ns) in times
    shared = [(row.name, row.calls, row.total_ns, row.launched_by, row.attribution) for row in kernel_table(trace)]
    assert shared == [(k.name, k.calls, k.total_ns, k.launched_by, k.attribution) for k in held.kernels]
    assert summarise(trace).kernel_sum_ns == held.whole.kernel_ns
