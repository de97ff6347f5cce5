"""Constructed silent fallbacks that a CPU can make: every one raises the alarm, with the right reason."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from profiles.compilation import Compilation, FusedKernel
from profiles.measure.compile_watch import CompileWatch
from profiles.measure.compile_words import place
from profiles.measure.dispatch import compile_receipt, graph_receipt
from profiles.operations import sdpa_backends
from profiles.operations.sdpa_backends import Backend, Question
from profiles.results import Counts, KernelUse, Receipt, Role
from profiles.supervisor.receipts import confirm_dispatch


def draw(*shape: int) -> Tensor:
    return torch.randn(*shape)


def question(q: Tensor, k: Tensor | None = None, v: Tensor | None = None, **asked: Any) -> Question:
    return Question(q, q if k is None else k, q if v is None else v, **{"causal": False, "grouped": False, **asked})


SDPA: dict[str, tuple[Question, str]] = {
    "inputs of three dimensions": (question(draw(4, 8, 16)), "to be 4 dimensional, but got Query dim: 3"),
    "a mask of three dimensions": (
        question(draw(1, 4, 8, 16), mask=torch.zeros(4, 8, 8)),
        "Please use the following attn mask shapes",
    ),
    "dropout": (question(draw(1, 4, 8, 16), dropout=0.1), "do not support non-zero dropout"),
    "values of another head size": (
        question(draw(1, 4, 8, 16), v=draw(1, 4, 8, 32)),
        "Got Query.size(-1): 16, Key.size(-1): 16, Value.size(-1): 32",
    ),
    "a last dimension that is not contiguous": (
        question(draw(1, 4, 16, 8).transpose(-1, -2)),
        "require the last dimension of the input to have stride 1",
    ),
    "no queries": (question(draw(1, 4, 0, 16), draw(1, 4, 8, 16), draw(1, 4, 8, 16)), "zero seq_len_q"),
    "shared heads without saying so": (
        question(draw(1, 4, 8, 16), draw(1, 1, 8, 16), draw(1, 1, 8, 16)),
        "to have the same num_heads",
    ),
    "a mask that wants a gradient": (
        question(draw(1, 4, 8, 16), mask=torch.zeros(8, 8, requires_grad=True)),
        sdpa_backends.NO_REASON,
    ),
}


@pytest.mark.parametrize("case", SDPA)
def test_attention_that_falls_to_math_is_an_alarm_with_torchs_reason(case: str) -> None:
    asked, reason = SDPA[case]
    receipt = sdpa_backends.receipt("auto", asked)
    assert (receipt.ran, receipt.fell_back) == (Backend.MATH, True)
    assert reason in receipt.refusals["flash"]
    assert reason in (receipt.detail or "")


@pytest.mark.parametrize("case", SDPA)
def test_flash_when_it_is_pinned_is_refused_for_the_same_reason(case: str) -> None:
    asked, reason = SDPA[case]
    receipt = sdpa_backends.receipt("flash", asked)
    assert receipt.ran is None
    assert reason in receipt.refusals["flash"]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_grouped_heads_are_no_false_alarm_where_the_cpus_kernel_takes_them(dtype: torch.dtype) -> None:
    q, k = draw(1, 4, 8, 16).to(dtype), draw(1, 2, 8, 16).to(dtype)
    receipt = sdpa_backends.receipt("auto", question(q, k, k, grouped=True))
    assert (receipt.ran, receipt.fell_back, receipt.detail) == (Backend.FLASH, False, None)


@pytest.fixture
def _fresh_compiler() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def prints(x: Tensor) -> Tensor:
    y = x + 1
    print("here")
    return y * 2


def asks_for_a_number(x: Tensor) -> Tensor:
    return x * x.sum().item()


def branches(x: Tensor) -> Tensor:
    y = x * 2
    if y.sum() > 0:
        y = y + 1
    return y


@torch.compiler.disable
def not_for_compilers(x: Tensor) -> Tensor:
    return x * 2


def hands_everything_on(x: Tensor) -> Tensor:
    return not_for_compilers(x)


def heard(function: Callable[[Tensor], Tensor], inputs: list[Tensor]) -> Compilation:
    """The calls as the session makes them, with a compiler that makes graphs and no code: breaks are dynamo's."""
    watch, compiled = CompileWatch(), torch.compile(function, backend="eager", dynamic=False)
    with watch, torch.no_grad():
        for one in inputs:
            compiled(one)
    return watch.compilation


BREAKS: dict[Callable[[Tensor], Tensor], tuple[str, str, str]] = {
    prints: ("inductor and eager", "builtin operator `print`", "y = x + 1\n    print"),
    asks_for_a_number: ("inductor and eager", "Tensor.item()", "return x * x.sum().item()"),
    branches: ("inductor and eager", "data-dependent branch", "if y.sum() > 0"),
    hands_everything_on: ("eager", "torch.compiler.disable", "return not_for_compilers(x)"),
}


@pytest.mark.usefixtures("_fresh_compiler")
@pytest.mark.parametrize("function", BREAKS)
def test_a_graph_that_breaks_is_an_alarm_with_reason_and_line(function: Callable[[Tensor], Tensor]) -> None:
    ran, reason, source = BREAKS[function]
    compilation = heard(function, [draw(4, 4)])
    receipt = compile_receipt(compilation)
    assert (receipt.ran, receipt.fell_back) == (ran, True)
    assert reason in (receipt.detail or "")
    where = f"tests/profiles/measure/test_silent_fallbacks.py:{_line_of(source)}"
    assert [found.where for found in compilation.breaks] == [where]
    assert where in (receipt.detail or "")


def _line_of(source: str) -> int:
    before, _, _ = Path(__file__).read_text().partition(source)
    return before.count("\n") + source.count("\n") + 1


@pytest.mark.usefixtures("_fresh_compiler")
def test_shape_after_shape_reaches_the_recompile_limit_and_is_an_alarm_with_the_guard() -> None:
    compilation = heard(lambda x: x + 1, [draw(n, 4) for n in range(2, 14)])
    assert compilation.limit_hit
    assert len(compilation.recompiles) == 7  # the limit is 8 versions
    receipt = compile_receipt(compilation)
    assert receipt.fell_back
    assert "the recompile limit was reached" in (receipt.detail or "")
    assert "size mismatch at index 0. expected 8, actual 9" in (receipt.detail or "")


@pytest.mark.usefixtures("_fresh_compiler")
def test_a_number_that_is_another_one_at_each_call_reaches_the_limit_too() -> None:
    state = {"step": 0}

    def counts(x: Tensor) -> Tensor:
        state["step"] += 1
        return x * state["step"]

    compilation = heard(counts, [draw(4)] * 12)
    assert compile_receipt(compilation).fell_back
    assert compilation.limit_hit
    assert "step" in compilation.recompiles[0].guard


@pytest.mark.usefixtures("_fresh_compiler")
def test_a_compiler_that_somebody_switched_off_is_an_alarm() -> None:
    dynamo = importlib.import_module("torch._dynamo.config")
    with dynamo.patch(disable=True):
        compilation = heard(lambda x: torch.sin(x) + 1, [draw(4)])
    receipt = compile_receipt(compilation)
    assert (receipt.ran, receipt.fell_back) == ("eager", True)
    assert receipt.detail == "torch compiled no graph, and gives no reason"


def test_a_torch_without_records_of_compilations_is_no_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("torch._dynamo.utils.get_compilation_metrics")
    compilation = heard(lambda x: torch.cos(x) + 1, [draw(4)])
    assert compilation.graphs is None
    assert not compile_receipt(compilation).fell_back


@pytest.mark.usefixtures("_fresh_compiler")
def test_one_whole_graph_is_no_alarm() -> None:
    compilation = heard(lambda x: torch.sin(x) + 1, [draw(4)] * 3)
    receipt = compile_receipt(compilation)
    assert (compilation.graphs, compilation.breaks, compilation.recompiles) == (1, (), ())
    assert (receipt.ran, receipt.fell_back, receipt.detail) == ("inductor", False, None)


STACK = 'Found from : \n   File "/srv/models/decoder.py", line 12, in forward\n    self.cache.add_(x)\n'
# As torch writes them, with what is kept of each.
SKIPS = {
    f"skipping cudagraphs due to mutated inputs (1 instances). {STACK}": (
        "mutated inputs (1 instances), at decoder.py:12"
    ),
    f"skipping cudagraphs due to cpu device (primals_2). {STACK}": "cpu device (primals_2), at decoder.py:12",
    "skipping cudagraphs due to multiple devices: device(type='cuda', index=0), device(type='cuda', index=1)": (
        "multiple devices: device(type='cuda', index=0), device(type='cuda', index=1)"
    ),
    f"skipping cudagraphs due to graph with symbolic shapes inputs and "
    f"config.triton.cudagraph_skip_dynamic_graphs=True. {STACK}": "graph with symbolic shapes inputs",
    "skipping cudagraph due to function 0 exceeding max re-recording limit (=128) on cudagraph node 3 due to static "
    "input data pointer changed.": "function 0 exceeding max re-recording limit (=128)",
}


@pytest.mark.parametrize("line", SKIPS)
def test_a_skipped_graph_is_an_alarm_with_its_reason(line: str) -> None:
    say = importlib.import_module("torch._inductor.cudagraph_utils").log_cudagraph_skip_and_bump_counter
    watch = CompileWatch()
    with watch:
        say(line)
        say(line)
    assert len(watch.compilation.graph_skips) == 1
    receipt = graph_receipt(watch.compilation.graph_skips)
    assert (receipt.ran, receipt.fell_back) == ("single launches", True)
    assert SKIPS[line] in (receipt.detail or "")


@pytest.mark.parametrize(
    ("file", "told"),
    [
        (torch.__file__, "torch/__init__.py:7"),
        (sdpa_backends.__file__, "profiles/operations/sdpa_backends.py:7"),
        ("/srv/models/secret/model.py", "model.py:7"),
    ],
)
def test_a_place_does_not_tell_where_this_machine_keeps_its_files(file: str, told: str) -> None:
    assert place(file, 7) == told


def test_what_is_said_outside_a_variants_calls_is_not_its_own() -> None:
    say = importlib.import_module("torch._inductor.cudagraph_utils").log_cudagraph_skip_and_bump_counter
    watch = CompileWatch()
    with watch:
        pass
    say("skipping cudagraphs due to mutated inputs (1 instances)")
    assert watch.compilation.graph_skips == ()


def kernel(name: str) -> KernelUse:
    return KernelUse(
        name=name,
        short_name=name,
        role=Role.POINTWISE,
        stages=(),
        calls=1,
        total_ns=1,
        min_ns=1,
        max_ns=1,
        position=0,
    )


def confirmed(receipt: Receipt, *names: str, graphs: int | None = None) -> Receipt:
    compilation = Compilation(kernels=(FusedKernel(name="triton_poi_fused_mul_0", operators=("mul",)),))
    kernels = [kernel(name) for name in names]
    return confirm_dispatch(
        [receipt], compilation=compilation, kernels=kernels, counts=Counts(kernels=len(names), graph_launches=graphs)
    )[0]


def test_generated_kernels_that_never_ran_are_an_alarm_whatever_torch_said() -> None:
    said = compile_receipt(Compilation(graphs=1))
    assert not confirmed(said, "triton_poi_fused_mul_0", "sm90_gemm").fell_back
    assert not confirmed(said, "graph_2_triton_poi_fused_mul_0").fell_back
    alarm = confirmed(said, "vectorized_elementwise_kernel", "sm90_gemm")
    assert (alarm.ran, alarm.fell_back) == ("eager", True)
    assert alarm.detail == "none of the 1 generated kernels was seen in the traced pass"


def test_a_pass_without_a_graph_launch_is_an_alarm_whatever_torch_said() -> None:
    said = graph_receipt(())
    assert (confirmed(said, "gemm", graphs=1).ran, confirmed(said, "gemm", graphs=None)) == ("graph replay", said)
    alarm = confirmed(said, "gemm", graphs=0)
    assert (alarm.ran, alarm.fell_back) == ("single launches", True)
    assert alarm.detail == "no graph was launched in the traced pass"


def test_some_graphs_skipped_and_some_launched_are_both_named() -> None:
    said = confirmed(graph_receipt(("cpu device (primals_2)",)), "gemm", graphs=2)
    assert (said.ran, said.fell_back) == ("graph replay and single launches", True)
