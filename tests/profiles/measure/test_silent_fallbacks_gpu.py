"""Constructed silent fallbacks on a GPU: each raises the alarm with the right reason, and the kernels agree."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.attention import sdpa_kernel
from torch.nn.functional import linear, scaled_dot_product_attention, silu
from torch.profiler import ProfilerActivity, profile

from profiles.measure.compile_watch import CompileWatch
from profiles.measure.dispatch import compile_receipt, graph_receipt
from profiles.measure.executions import executed
from profiles.measure.generated_code import fused_kernels, written_code
from profiles.operations import sdpa_backends
from profiles.operations.implementation import UnsupportedError
from profiles.operations.sdpa_backends import TORCH_NAMES, Backend, Question
from profiles.results import Receipt
from profiles.variant import Execution

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"),
    pytest.mark.filterwarnings("ignore"),  # torch deprecates its own code while it compiles
]

HALF, WHOLE, DOUBLE = torch.bfloat16, torch.float32, torch.float64


def draw(*shape: int, dtype: torch.dtype = HALF) -> Tensor:
    return torch.randn(*shape, dtype=dtype, device="cuda")


@dataclass(frozen=True)
class Case:
    """`asked` falls back or is refused; of `backend` torch says `reason`."""

    make: Callable[[], Question]
    asked: str
    backend: str
    reason: str


def ask(make: Callable[[], tuple[Tensor, Tensor, Tensor]], **asked: Any) -> Callable[[], Question]:
    def question() -> Question:
        made = {name: value() if callable(value) else value for name, value in asked.items()}
        return Question(*make(), **{"causal": False, "grouped": False, **made})

    return question


def alike(*shape: int, dtype: torch.dtype = HALF) -> Callable[[], tuple[Tensor, Tensor, Tensor]]:
    return lambda: (draw(*shape, dtype=dtype), draw(*shape, dtype=dtype), draw(*shape, dtype=dtype))


def grouped_in(dtype: torch.dtype) -> Callable[[], tuple[Tensor, Tensor, Tensor]]:
    draw_kv = partial(draw, 2, 2, 64, 64, dtype=dtype)
    return lambda: (draw(2, 8, 64, 64, dtype=dtype), draw_kv(), draw_kv())


def across() -> tuple[Tensor, Tensor, Tensor]:
    """Their last dimension is not the contiguous one."""
    q, k, v = (draw(2, 4, 64, 64).transpose(-1, -2) for _ in range(3))
    return q, k, v


def wide_values() -> tuple[Tensor, Tensor, Tensor]:
    return draw(2, 4, 64, 64), draw(2, 4, 64, 64), draw(2, 4, 64, 32)


def longer_keys() -> tuple[Tensor, Tensor, Tensor]:
    return draw(2, 4, 64, 64), draw(2, 4, 128, 64), draw(2, 4, 128, 64)


def masked() -> Tensor:
    return torch.ones(64, 64, dtype=torch.bool, device="cuda").tril()


SAME_HEADS = "same num_heads"
CASES = {
    "grouped heads in fp32": Case(ask(grouped_in(WHOLE), grouped=True), "auto", "efficient", SAME_HEADS),
    "fp64": Case(ask(alike(2, 4, 64, 64, dtype=DOUBLE)), "auto", "flash", "to all be of dtype"),
    "three dimensions": Case(ask(alike(4, 64, 64)), "auto", "flash", "to be 4 dimensional"),
    "strides": Case(ask(across), "auto", "flash", "last dimension of the input to have stride 1"),
    "a mask with flash pinned": Case(
        ask(alike(2, 4, 64, 64), mask=masked), "flash", "flash", "does not support non-null attn_mask"
    ),
    "head size 512 with flash": Case(
        ask(alike(2, 4, 64, 512)), "flash", "flash", "less than or equal to 256. Got Query.size(-1): 512"
    ),
    "head size 60 with efficient": Case(
        ask(alike(2, 4, 64, 60)), "efficient", "efficient", "last dimension of inputs to be divisible by"
    ),
    "head size 60 with cuDNN": Case(ask(alike(2, 4, 64, 60)), "cudnn", "cudnn", "head_dim should be a multiple of 8"),
    "other values with flash": Case(ask(wide_values), "flash", "flash", "q,k,v to have the same last dimension"),
    "longer keys, causal, with flash": Case(
        ask(longer_keys, causal=True), "flash", "flash", "is_causal flag when seqlen_q != seqlen_k"
    ),
    "fp32 with flash": Case(ask(alike(2, 4, 64, 64, dtype=WHOLE)), "flash", "flash", "to all be of dtype"),
    "fp32 with cuDNN": Case(ask(alike(2, 4, 64, 64, dtype=WHOLE)), "cudnn", "cudnn", "to all be of dtype"),
    "grouped heads with efficient": Case(ask(grouped_in(HALF), grouped=True), "efficient", "efficient", SAME_HEADS),
}


@pytest.mark.parametrize("name", CASES)
def test_attention_that_cannot_be_what_was_asked_is_an_alarm_or_a_refusal(name: str) -> None:
    case = CASES[name]
    question = case.make()
    receipt = sdpa_backends.receipt(case.asked, question)
    assert case.reason in receipt.refusals[case.backend]
    if case.asked == "auto":
        assert (receipt.ran, receipt.fell_back) == (Backend.MATH, True)
        assert case.reason in (receipt.detail or "")
        assert not any("flash" in kernel or "fmha" in kernel for kernel in kernels_of(lambda: attend(question)))
    else:
        assert receipt.ran is None
        with sdpa_kernel([TORCH_NAMES[Backend(case.asked)]]), pytest.raises(RuntimeError, match="No available kernel"):
            attend(question)


def test_cudnn_is_refused_where_only_deterministic_algorithms_may_run() -> None:
    torch.use_deterministic_algorithms(True)
    try:
        receipt = sdpa_backends.receipt("cudnn", CASES["a mask with flash pinned"].make())
    finally:
        torch.use_deterministic_algorithms(False)
    assert receipt.ran is None
    assert "not deterministic" in receipt.refusals["cudnn"]


def test_a_receipt_has_the_order_and_the_versions_that_decide() -> None:
    receipt = sdpa_backends.receipt("auto", ask(alike(2, 4, 64, 64))())
    assert not receipt.fell_back
    assert receipt.order is None or receipt.ran in receipt.order
    assert receipt.versions.keys() >= {"torch", "cudnn"}


def test_the_order_is_this_devices_also_in_a_process_that_has_chosen_nothing_yet() -> None:
    """Torch sets it at the first choice; a pinned backend's receipt makes none by itself."""
    asks = (
        "import torch; from profiles.operations.sdpa_backends import Question, receipt;"
        "q = torch.zeros(2, 4, 64, 64, device='cuda', dtype=torch.bfloat16);"
        "print(*(receipt('flash', Question(q, q, q, causal=False, grouped=False)).order or ()))"
    )
    fresh = subprocess.run([sys.executable, "-c", asks], check=True, capture_output=True, text=True).stdout.split()
    question = ask(alike(2, 4, 64, 64))()
    attend(question)
    assert fresh == list(sdpa_backends.priority(question) or ())


def attend(question: Question) -> Tensor:
    return scaled_dot_product_attention(
        question.query,
        question.key,
        question.value,
        attn_mask=question.mask,
        is_causal=question.causal,
        enable_gqa=question.grouped,
    )


def kernels_of(call: Callable[[], object]) -> list[str]:
    """Names of what ran on the device, and of the runtime's calls."""
    call()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        call()
        torch.cuda.synchronize()
    return [event.name for event in profiler.events()]


# --- compilers and graphs -------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TORCHINDUCTOR_COMPILE_THREADS", "1")
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@dataclass(frozen=True)
class Block:
    x: Tensor
    weight: nn.Parameter


def block() -> Block:
    return Block(draw(64, 64), nn.Parameter(draw(64, 64), requires_grad=False))


def fused(b: Block) -> Tensor:
    return silu(linear(b.x, b.weight)) * 2


def changes_its_input(b: Block) -> Tensor:
    b.x.add_(1)
    return b.x * 2


def goes_by_the_cpu(b: Block) -> Tensor:
    return (b.x.sum().cpu() + 1).to(b.x.device) + b.x


def asks_for_a_number(b: Block) -> Tensor:
    return b.x * b.x.sum().item()


def finds_what_is_positive(b: Block) -> Tensor:
    return b.x[b.x > 0] * 2


@torch.no_grad()
def run(
    function: Callable[[Any], Tensor], execution: Execution, *inputs: Any
) -> tuple[CompileWatch, list[str], list[Tensor]]:
    """What was heard in five calls on each of the inputs, what a call of the last then launches, and the outputs."""
    subject = executed(function, execution, inputs=inputs[0], device=torch.device("cuda"))
    assert subject.watch is not None
    outputs: list[Tensor] = []
    with subject.watch:
        for one in inputs:
            for _ in range(5):
                output = subject.function(one)
                assert isinstance(output, Tensor)
                outputs.append(output.clone())
        seen = kernels_of(lambda: subject.function(inputs[-1]))
    return subject.watch, seen, outputs


def graph_launches(seen: list[str]) -> int:
    return sum("GraphLaunch" in name for name in seen)


def test_reduce_overhead_replays_a_graph_and_is_no_alarm() -> None:
    inputs = block()
    watch, seen, outputs = run(fused, Execution.COMPILE_REDUCE_OVERHEAD, inputs)
    assert graph_launches(seen) == 1
    assert not graph_receipt(watch.compilation.graph_skips).fell_back
    assert not compile_receipt(watch.compilation).fell_back
    torch.testing.assert_close(outputs[-1], fused(inputs), rtol=2e-2, atol=2e-2)


def test_a_changed_input_skips_the_graph_and_is_an_alarm_with_the_line() -> None:
    watch, seen, _ = run(changes_its_input, Execution.COMPILE_REDUCE_OVERHEAD, block())
    receipt = graph_receipt(watch.compilation.graph_skips)
    assert graph_launches(seen) == 0
    assert receipt.fell_back
    assert "mutated inputs" in (receipt.detail or "")


def test_work_on_the_cpu_skips_the_graph_or_cuts_it_and_the_launches_tell() -> None:
    watch, seen, _ = run(goes_by_the_cpu, Execution.COMPILE_REDUCE_OVERHEAD, block())
    receipt = graph_receipt(watch.compilation.graph_skips)
    if graph_launches(seen):
        assert not receipt.fell_back  # partitioned: what runs on the device is replayed
    else:
        assert receipt.fell_back
        assert "cpu device" in (receipt.detail or "")


@pytest.mark.parametrize("function", [asks_for_a_number, finds_what_is_positive])
def test_a_graph_that_breaks_is_an_alarm_with_its_place(function: Callable[[Any], Tensor]) -> None:
    watch, _, _ = run(function, Execution.COMPILE, block())
    receipt = compile_receipt(watch.compilation)
    assert receipt.fell_back
    assert "test_silent_fallbacks_gpu.py:" in (receipt.detail or "")


def test_shape_after_shape_reaches_the_recompile_limit() -> None:
    shapes = [Block(draw(rows, 64), block().weight) for rows in range(8, 8 * 12, 8)]
    watch, _, _ = run(lambda b: b.x + 1, Execution.COMPILE, *shapes)
    receipt = compile_receipt(watch.compilation)
    assert watch.compilation.limit_hit
    assert receipt.fell_back
    assert "size mismatch at index 0" in (receipt.detail or "")


def test_fused_kernels_have_the_names_of_the_trace(tmp_path: Path) -> None:
    _, seen, _ = run(fused, Execution.COMPILE, block())
    kernels = fused_kernels(written_code(tmp_path))
    assert any({"silu", "mul"} <= set(kernel.operators) for kernel in kernels)
    assert {kernel.name for kernel in kernels} & set(seen)


def test_a_capture_of_our_own_replays_and_reads_its_inputs_where_they_are() -> None:
    inputs = block()
    captured = executed(fused, Execution.CUDAGRAPH, inputs=inputs, device=torch.device("cuda")).function
    with torch.no_grad():
        first = captured(inputs)
        torch.testing.assert_close(first, fused(inputs))
        inputs.x.mul_(2)
        assert captured(inputs) is first
        torch.testing.assert_close(first, fused(inputs))
        assert graph_launches(kernels_of(lambda: captured(inputs))) == 1
        others = block()
        torch.testing.assert_close(captured(others), fused(others))


def test_what_no_graph_can_hold_is_refused_with_cudas_reason() -> None:
    inputs = block()
    captured = executed(asks_for_a_number, Execution.CUDAGRAPH, inputs=inputs, device=torch.device("cuda")).function
    with torch.no_grad(), pytest.raises(UnsupportedError, match=r"cannot be captured in a CUDA graph: .*captur"):
        captured(inputs)


def test_a_receipt_of_graphs_without_a_skip_is_as_asked() -> None:
    assert graph_receipt(()) == Receipt(
        mechanism="cuda_graph", asked="graph replay", ran="graph replay", versions={"torch": str(torch.__version__)}
    )
