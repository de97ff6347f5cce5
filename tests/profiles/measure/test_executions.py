"""How functions are executed: what each execution asks of torch, and what a device without graphs refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor, nn

from profiles.measure.cuda_graph import CapturedCall, afresh
from profiles.measure.executions import _keep_weights_in_place, check_execution, executed
from profiles.operations.implementation import UnsupportedError
from profiles.operations.stages import marked, stage
from profiles.variant import Execution, parse_variant

CPU = torch.device("cpu")


@dataclass(frozen=True)
class Inputs:
    x: Tensor
    weight: nn.Parameter


def double(inputs: Inputs) -> Tensor:
    with stage("double"):
        return inputs.x * 2 + inputs.weight


def inputs(rows: int = 4) -> Inputs:
    return Inputs(torch.randn(rows, 4), nn.Parameter(torch.randn(4), requires_grad=False))


@pytest.mark.parametrize("execution", Execution)
def test_every_execution_can_be_written_in_a_variant(execution: Execution) -> None:
    assert parse_variant(f"unfused@{execution}").execution is execution


@pytest.mark.parametrize("execution", [Execution.COMPILE_REDUCE_OVERHEAD, Execution.CUDAGRAPH])
def test_graphs_are_refused_on_a_cpu_with_the_reason(execution: Execution) -> None:
    with pytest.raises(UnsupportedError, match="CUDA graphs need a cuda device, this one is cpu"):
        executed(double, execution, inputs=inputs(), device=CPU)


@pytest.mark.parametrize("execution", [Execution.EAGER, Execution.COMPILE, Execution.COMPILE_MAX_AUTOTUNE])
def test_what_needs_no_graphs_is_accepted_on_a_cpu(execution: Execution) -> None:
    check_execution(execution, CPU)


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
@pytest.mark.parametrize("execution", [Execution.COMPILE, Execution.COMPILE_MAX_AUTOTUNE])
def test_builds_with_fresh_buffers_compile_once(execution: Execution) -> None:
    watch = None
    for _ in range(3):
        build = executed(double, execution, inputs=inputs(), device=CPU)
        assert build.watch is not None
        assert watch in {None, build.watch}
        watch, given = build.watch, inputs()
        with watch, torch.no_grad():
            torch.testing.assert_close(build.function(given), double(given))
    assert watch is not None
    assert (watch.compilation.graphs, watch.compilation.recompiles, watch.compilation.breaks) == (1, (), ())


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_marks_of_stages_neither_break_a_graph_nor_compile_it_anew() -> None:
    build, given = executed(double, Execution.COMPILE, inputs=inputs(), device=CPU), inputs()
    assert build.watch is not None
    with build.watch, torch.no_grad():
        build.function(given)
        with marked():
            build.function(given)
    assert (build.watch.compilation.breaks, build.watch.compilation.recompiles) == ((), ())


def test_executions_of_one_function_do_not_share_the_recompile_limit() -> None:
    """Torch counts by code object: shapes that one execution has seen are none of the other's versions."""
    torch._dynamo.reset()
    functions = [executed(double, Execution.COMPILE, inputs=None, device=CPU).function for _ in range(2)]
    assert functions[0] is functions[1]
    others = executed(double, Execution.COMPILE_MAX_AUTOTUNE, inputs=None, device=CPU).function
    codes = [
        function._torchdynamo_orig_callable.__code__  # type: ignore[attr-defined]
        for function in (functions[0], others)
    ]
    assert codes[0] is not codes[1]
    assert codes[0] is not double.__code__
    assert codes[0] == double.__code__


def test_weights_stay_in_place_for_graphs_and_activations_do_not() -> None:
    torch._dynamo.reset()
    in_place: dict[str, object] = {}

    def looks(module: torch.fx.GraphModule, _: list[Tensor]) -> Callable[..., object]:
        for node in module.graph.nodes:
            if node.op == "placeholder":
                in_place[node.name] = node.meta["tensor_dict"].get("_dynamo_static_input_type")
        return module.forward

    given = inputs()
    _keep_weights_in_place(given)
    with torch.no_grad():
        torch.compile(double, backend=looks, dynamic=False)(given)
    assert in_place == {"l_inputs_x": None, "l_inputs_weight": "unguarded"}


def test_other_inputs_get_a_capture_of_their_own_and_other_functions_stay_as_they_are() -> None:
    captured = CapturedCall(double)
    other = afresh(captured)
    assert isinstance(other, CapturedCall)
    assert other is not captured
    assert other.captured is double
    assert afresh(double) is double
