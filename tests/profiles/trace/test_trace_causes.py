"""Operator, module and line of code of each launch; those of replays by an uncaptured pass of the same kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from profiles.trace.causes import Cause, find_causes
from profiles.trace.contents import contents
from profiles.trace.counterparts import find_counterparts
from profiles.trace.forward import per_forward
from profiles.trace.kernel_table import kernel_table
from profiles.trace.launches import find_launches
from profiles.trace.model import SliceKind, Trace
from profiles.trace.read import read_trace
from profiles.trace.timeline import timeline

if TYPE_CHECKING:
    from conftest import Draft

ReadDraft = Callable[["Draft"], Trace]
NAMES = ("gemm", "scale", "mask", "softmax", "gemm", "cast", "norm", "gemm")


def causes_of(trace: Trace) -> list[Cause]:
    """Of the kernels, in order of their start."""
    causes = find_causes(trace, find_launches(trace))
    return [causes.table[place] for place in causes.of_row[trace.slices.of(SliceKind.KERNEL)].tolist()]


def python(draft: Draft, name: str, start: float, duration: float, *, tid: int = 1) -> None:
    draft.add("python_function", name, start, duration, tid=tid, args={"Python id": 1})


def replay(draft: Draft, start: float, correlation: int, names: tuple[str, ...] = NAMES) -> None:
    draft.call("cudaGraphLaunch", start, correlation)
    for place, name in enumerate(names):
        draft.gpu(start + 10 + 3 * place, 2, correlation, name=name)


def one_by_one(draft: Draft, start: float, first: int, names: tuple[str, ...] = NAMES) -> None:
    """Each kernel by an operator and a line of its own, named after its place."""
    for place, name in enumerate(names):
        at = start + 20 * place
        draft.add("user_annotation", f"fusescope.source:net.py({place}): forward", at, 12)
        draft.operator(f"op::{place}", at + 1, 10)
        draft.launch(at + 2, first + place)
        draft.gpu(at + 6, 2, first + place, name=name)


def test_a_launch_has_its_modules_from_outside_in_and_the_users_innermost_line(
    draft: Draft, read_draft: ReadDraft
) -> None:
    python(draft, "threading.py(1075): run", 0, 1000)
    python(draft, "train.py(7): <module>", 1, 900)
    python(draft, "nn.Module: Bert_0", 2, 800)
    python(draft, "torch/nn/modules/module.py(1743): _call_impl", 3, 700)
    python(draft, "transformers/models/bert.py(50): forward", 4, 600)
    python(draft, "nn.Module: Linear_3", 5, 100)
    python(draft, "torch/nn/modules/linear.py(124): forward", 6, 90)
    python(draft, "<built-in function linear>", 7, 80)
    draft.operator("aten::linear", 8, 70)
    draft.launched(10, 1, name="first")
    draft.launched(300, 2, name="second")
    draft.launched(850, 3, name="third")
    draft.launched(950, 4, name="fourth")
    line = "transformers/models/bert.py(50): forward"
    assert causes_of(read_draft(draft)) == [
        Cause("aten::linear", "Bert_0 > Linear_3", line),
        Cause(None, "Bert_0", line),
        Cause(None, None, "train.py(7): <module>"),
        Cause(),
    ]


@pytest.mark.parametrize(
    ("line", "is_users"),
    [
        ("train.py(7): <module>", True),
        ("/srv/project/train.py(7): main", True),
        ("transformers/models/bert.py(50): forward", True),
        ("/usr/lib/python3.11/site-packages/vllm/worker.py(9): run", True),
        ("<ipython-input-3-abc>(2): f", True),
        ("/usr/lib/python3.11/site-packages/torch/nn/functional.py(2): relu", False),
        ("/src/triton-custom/python/triton/runtime/jit.py(3): run", False),
        ("/var/torchinductor_me/ab/cab.py(40): call", False),
        ("/usr/lib/python3.11/threading.py(9): run", False),
        ("multiprocessing/spawn.py(122): spawn_main", False),
        ("<frozen runpy>(88): _run_code", False),
        ("<built-in method cat of type object at 0x7d6b>", False),
    ],
)
def test_a_line_is_the_users_unless_it_is_torchs_or_pythons(
    line: str, is_users: bool, draft: Draft, read_draft: ReadDraft
) -> None:
    python(draft, line, 1, 100)
    draft.launched(10, 1)
    assert causes_of(read_draft(draft)) == [Cause(None, None, line) if is_users else Cause()]


def test_python_of_another_thread_or_of_a_microsecond_that_has_passed_is_no_cause(
    draft: Draft, read_draft: ReadDraft
) -> None:
    python(draft, "other.py(1): f", 1, 100, tid=2)
    python(draft, "before.py(1): f", 1, 9)
    draft.add("python_function", "broken.py(1): f", 5, -50)
    draft.add("python_function", "broken.py(2): f", 5, "long")
    draft.launched(10, 1)
    assert causes_of(read_draft(draft)) == [Cause()]


def test_old_files_tell_the_stack_and_the_modules_with_the_operator(draft: Draft, read_draft: ReadDraft) -> None:
    stack = "/x/site-packages/torch/profiler/profiler.py(312): step;net.py(54): forward;main.py(3): <module>"
    draft.add("Operator", "aten::mm", 1, 50, args={"Call stack": stack, "Module Hierarchy": "Net(Net)::forward"})
    draft.launched(10, 1)
    assert causes_of(read_draft(draft)) == [Cause("aten::mm", "Net(Net)::forward", "net.py(54): forward")]


def test_a_replay_has_the_causes_of_the_uncaptured_pass_in_order(draft: Draft, read_draft: ReadDraft) -> None:
    draft.forward(0, 0, 100)
    replay(draft, 1, 1)
    draft.add("user_annotation", "fusescope.uncaptured", 200, 300)
    draft.stage("scores", 199, 30)
    one_by_one(draft, 200, 10)
    trace = read_draft(draft)
    replayed, uncaptured = causes_of(trace)[:8], causes_of(trace)[8:]
    assert replayed == [Cause(f"op::{n}", None, f"net.py({n}): forward", inferred=True) for n in range(8)]
    assert uncaptured == [cause._replace(inferred=False) for cause in replayed]
    forward = per_forward(trace, device="cuda:0")
    by_name = dict(zip([(use.name, use.stages) for use in forward.kernels], forward.causes, strict=True))
    assert by_name["gemm", ("scores",)].operators == ("op::0",)
    assert by_name["gemm", ()].operators == ("op::4", "op::7")
    assert all(cause.inferred for cause in forward.causes)
    assert (forward.counts.kernels, forward.counts.graph_launches) == (8, 1)
    rows = {row.name: (row.inferred, row.calls, row.launch_calls) for row in kernel_table(trace)}
    assert rows["softmax"] == (1, 2, ("cudaGraphLaunch", "cudaLaunchKernel"))
    assert rows["gemm"] == (3, 6, ("cudaGraphLaunch", "cudaLaunchKernel"))
    assert {causes.launch_calls for causes in forward.causes} == {("cudaGraphLaunch",)}
    drawn = timeline(trace)
    shown = [drawn.causes[place] for place in drawn.cause.tolist()]
    assert [cause for cause in shown if cause.inferred] == replayed


def test_what_the_passes_lack_is_filled_in_and_what_they_tell_is_kept(draft: Draft, read_draft: ReadDraft) -> None:
    draft.forward(0, 0, 50)
    draft.operator("aten::mm", 1, 20)
    draft.launched(2, 1, name="gemm")
    draft.add("user_annotation", "fusescope.uncaptured", 100, 100)
    draft.add("user_annotation", "fusescope.module:Net.layers.0", 101, 80)
    draft.operator("aten::other", 102, 20)
    draft.launched(103, 2, name="gemm")
    assert causes_of(read_draft(draft))[0] == Cause("aten::mm", "Net.layers.0", None, inferred=True)


def test_a_name_that_means_several_things_tells_only_what_they_share(draft: Draft, read_draft: ReadDraft) -> None:
    draft.forward(0, 0, 100)
    replay(draft, 1, 1, ("gemm", "surprise", "gemm"))
    draft.add("user_annotation", "fusescope.uncaptured", 200, 300)
    draft.add("user_annotation", "fusescope.module:Net", 200, 200)
    for place, operator in enumerate(("aten::mm", "aten::addmm")):
        draft.operator(operator, 210 + 40 * place, 20)
        draft.launched(211 + 40 * place, 2 + place, name="gemm")
    first, surprise, second = causes_of(read_draft(draft))[:3]
    assert first == second == Cause(None, "Net", None, inferred=True)
    assert surprise == Cause()


def test_a_file_without_marks_infers_only_whole_sequences(draft: Draft, read_draft: ReadDraft) -> None:
    one_by_one(draft, 0, 10)
    replay(draft, 500, 1)
    replay(draft, 700, 2, (*NAMES[:7], "other"))
    replay(draft, 900, 3, NAMES[:4])
    found = causes_of(read_draft(draft))[8:]
    assert [cause.operator for cause in found[:8]] == [f"op::{n}" for n in range(8)]
    assert found[8:] == [Cause()] * 12  # one kernel differs; four may stand there by chance


def test_sequences_that_disagree_tell_only_what_they_share(draft: Draft, read_draft: ReadDraft) -> None:
    one_by_one(draft, 0, 10)
    one_by_one(draft, 200, 20)
    replay(draft, 500, 1)
    python(draft, "user.py(1): second", 199, 250)  # around the second pass alone, outside its own lines
    draft.operator("op::changed", 201.5, 9)
    found = causes_of(read_draft(draft))[16:]
    assert found[0] == Cause(None, None, "net.py(0): forward", inferred=True)
    assert found[1] == Cause("op::1", None, "net.py(1): forward", inferred=True)


def test_hostile_frames_are_bounded_text(draft: Draft, read_draft: ReadDraft) -> None:
    names: list[Any] = [f"nn.Module: {'x' * 5_000}", "nn.Module: <script>\u202e\x1b[31m", "a.py(1): <b>\x00", None, ""]
    for place, name in enumerate([*names, *(f"nn.Module: Deep_{n}" for n in range(200))]):
        python(draft, name, place, 1000 - 2 * place)
    draft.launched(300, 1)
    (cause,) = causes_of(read_draft(draft))
    assert cause.module is not None
    assert cause.module.startswith("… > ")
    assert cause.module.endswith("Deep_198 > Deep_199")
    assert len(cause.module) < 33 * 1_003
    assert cause.source == "a.py(1): <b>\x00"


def test_names_that_thousands_of_causes_share_are_cut(draft: Draft, read_draft: ReadDraft) -> None:
    for depth in range(30):
        python(draft, f"nn.Module: {depth:02d}_{'x' * 350}", depth, 10_000)
    for place in range(3):
        python(draft, f"nn.Module: Leaf_{place}", 100 + 50 * place, 40)
        draft.operator("o" * 1_000_000, 101 + 50 * place, 30)
        draft.launched(102 + 50 * place, place + 1)
    found = causes_of(read_draft(draft))
    assert [str(cause.module).rsplit(" > ", 1)[1] for cause in found] == ["Leaf_0", "Leaf_1", "Leaf_2"]
    assert max(len(text or "") for cause in found for text in (cause.operator, cause.module)) < 1_500


def test_many_replays_of_one_graph_share_what_they_stand_for(draft: Draft, read_draft: ReadDraft) -> None:
    for time in range(30):
        one_by_one(draft, 200 * time, 1_000 + 10 * time)
    for time in range(50):
        replay(draft, 10_000 + 100 * time, 1 + time)
    trace = read_draft(draft)
    found = find_counterparts(trace, find_launches(trace))
    assert len(found.rows) == 50 * len(NAMES)
    assert len(found.candidates) == 30 * len(NAMES)
    assert [cause.operator for cause in causes_of(trace)[-8:]] == [f"op::{place}" for place in range(8)]


def test_the_kernels_of_a_public_bert_have_layer_and_line(public_traces: Path) -> None:
    trace = read_trace(next(public_traces.glob("15_*")))
    found = causes_of(trace)
    assert len(found) == 60
    assert all(cause.operator and cause.module and cause.source and not cause.inferred for cause in found)
    attention = "BertLMHeadModel_0 > BertModel_0 > BertEncoder_0 > BertLayer_1 > BertAttention_1"
    queries = [cause for cause in found if cause.module == f"{attention} > BertSdpaSelfAttention_1 > Linear_8"]
    assert {cause.operator for cause in queries} == {"aten::addmm"}
    assert {str(cause.source).split("(")[0] for cause in queries} == {"transformers/models/bert/modeling_bert.py"}
    kernels = contents(trace).kernels
    assert all(kernel.modules and kernel.sources for kernel in kernels)


@pytest.mark.parametrize("prefix", ["17", "18"])
def test_the_kernels_that_a_public_decoder_launched_have_their_layers(public_traces: Path, prefix: str) -> None:
    trace = read_trace(next(public_traces.glob(f"{prefix}_*")))
    launched = [cause for cause in causes_of(trace) if cause.operator]
    assert len(launched) == {"17": 1029, "18": 1053}[prefix]  # all but those of the steps before the window
    layers = {part for cause in launched for part in str(cause.module).split(" > ") if "DecoderLayer_" in part}
    assert layers == {f"Qwen2DecoderLayer_{layer}" for layer in range(24)}


def test_replays_of_public_traces_stay_with_the_line_that_replayed_them(public_traces: Path) -> None:
    """No pass of those files launches the same kernels one by one."""
    for prefix, kernels, line in (("21", 544, "cuda_graph_runner.py(1333): replay"), ("24", 6264, "forward")):
        found = causes_of(read_trace(next(public_traces.glob(f"{prefix}_*"))))
        assert not any(cause.inferred for cause in found)
        source, count = Counter(cause.source for cause in found).most_common(1)[0]
        assert count == kernels
        assert str(source).endswith(line)


def test_operators_of_2021_have_the_users_line_of_their_call_stack(public_traces: Path) -> None:
    found = causes_of(read_trace(next(public_traces.glob("29_*"))))
    assert {cause.source for cause in found if cause.source} >= {"resnet50_profiler_api.py(51): <module>"}
    assert sum(cause.source is not None for cause in found) == 5544
