"""How a function is run: as it is, compiled in one of torch's modes, or replayed from a CUDA graph."""

from __future__ import annotations

import types
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import nn

from profiles.measure.compile_watch import CompileWatch
from profiles.measure.cuda_graph import CapturedCall
from profiles.operations.implementation import Forward, UnsupportedError
from profiles.variant import Execution

MODES = {
    Execution.COMPILE_REDUCE_OVERHEAD: "reduce-overhead",
    Execution.COMPILE_MAX_AUTOTUNE: "max-autotune",
}


@dataclass(frozen=True, slots=True)
class Executed:
    """`watch` hears what torch says while it compiles; None where nothing is compiled."""

    function: Forward
    watch: CompileWatch | None = None


def check_execution(execution: Execution, device: torch.device) -> None:
    """UnsupportedError where this device has nothing to execute it with."""
    if execution.needs_graphs and device.type != "cuda":
        raise UnsupportedError(f"CUDA graphs need a cuda device, this one is {device.type}")


def executed(function: Forward, execution: Execution, *, inputs: Any, device: torch.device) -> Executed:
    """The function as `execution` runs it; nothing is called, compiled or captured yet.

    A function is compiled once per process, however often it is asked for: new inputs of the same shape are no reason
    to compile again.
    """
    check_execution(execution, device)
    if execution is Execution.CUDAGRAPH:
        return Executed(CapturedCall(function))
    if not execution.compiles:
        return Executed(function)
    if execution.asks_for_graphs and device.type == "cuda":
        _keep_weights_in_place(inputs)
    return _compiled(function, execution, device.type)


@cache
def _compiled(function: Forward, execution: Execution, device_type: str) -> Executed:
    """Graphs may break: the breaks are counted and reported, where insisting on one graph would only raise.

    Shapes are static: a run has one workload.
    """
    options = _compiler_options(execution, device_type)
    return Executed(torch.compile(with_code_of_its_own(function), dynamic=False, options=options), CompileWatch())


def with_code_of_its_own(function: Forward) -> Forward:
    """Torch counts compilations by code object: two executions of one function would share the recompile limit."""
    if not isinstance(function, types.FunctionType):
        return function
    copy = types.FunctionType(
        function.__code__.replace(),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _compiler_options(execution: Execution, device_type: str) -> dict[str, Any]:
    """The options of torch's mode (a mode and options exclude each other).

    On a CPU compiled kernels leave a record only when told to (asking whether anyone listens costs them some ns), and
    there are no CUDA graphs to ask for.
    """
    inductor: Any = torch._inductor  # public, without types
    options = dict(inductor.list_mode_options(MODES[execution])) if execution in MODES else {}
    if device_type == "cpu":
        return {name: value for name, value in options.items() if name != "triton.cudagraphs"} | {
            "cpp.enable_kernel_profile": True
        }
    return options


def _keep_weights_in_place(inputs: Any) -> None:
    """As in a model, weights stay where they are: a graph reads them there, and copies in only the activations.

    Not guarded: other weights at other addresses are recorded anew, not compiled anew.
    """
    mark: Any = torch._dynamo.mark_static_address
    for weight in _parameters(inputs):
        mark(weight, guard=False)


def _parameters(inputs: Any) -> list[nn.Parameter]:
    names = getattr(type(inputs), "__dataclass_fields__", {})
    return [value for name in names if isinstance(value := getattr(inputs, name), nn.Parameter)]
