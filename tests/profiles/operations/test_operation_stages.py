"""Stage marks: in a traced pass alone, and never in a compiled graph."""

from __future__ import annotations

import torch
from torch.profiler import ProfilerActivity, profile

from profiles.operations import attention, swiglu
from profiles.operations.stages import PREFIX, marked, marking
from tests.profiles.operations import small
from tests.profiles.operations.small import CPU


def stages_of(call: object, inputs: object) -> list[str]:
    with profile(activities=[ProfilerActivity.CPU]) as recorded:
        call(inputs)  # type: ignore[operator]
    return [event.name.removeprefix(PREFIX) for event in recorded.events() if event.name.startswith(PREFIX)]


def test_marked_stages_are_recorded_in_order() -> None:
    inputs = attention.inputs(small.attention(), CPU)
    with marked():
        assert stages_of(attention.naive, inputs) == ["scores", "scale", "mask", "softmax", "values"]


def test_a_fused_kernel_covers_all_stages_that_there_are() -> None:
    with marked():
        causal = stages_of(attention.sdpa_flash, attention.inputs(small.attention(), CPU))
        open_mask = stages_of(attention.sdpa_flash, attention.inputs(small.attention(causal=False), CPU))
    assert causal == ["scores+scale+mask+softmax+values"]
    assert open_mask == ["scores+scale+softmax+values"]


def test_nothing_is_recorded_outside_a_traced_pass() -> None:
    assert not marking()
    assert stages_of(attention.naive, attention.inputs(small.attention(), CPU)) == []


def test_a_compiled_graph_has_no_marks_and_is_not_compiled_anew_for_a_trace() -> None:
    graphs = []

    def backend(graph: torch.fx.GraphModule, _: object) -> object:
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(swiglu.unfused, fullgraph=True, dynamic=False, backend=backend)
    inputs = swiglu.inputs(small.swiglu(), CPU)
    with torch.no_grad():
        compiled(inputs)
        with marked():
            assert stages_of(compiled, inputs) == []
    assert len(graphs) == 1
