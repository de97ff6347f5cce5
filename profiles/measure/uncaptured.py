"""The uncaptured pass: one forward pass more, its kernels launched one by one where the run replays CUDA graphs, and
within marks of module and source line where Python runs.

What it tells of the run's own passes is inferred, by the sequence of their kernels (`profiles.trace.counterparts`). It
is recorded last, so that it distorts none of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.profiler import record_function

from profiles.measure.cause_marks import marked_causes
from profiles.measure.cuda_graph import CapturedCall
from profiles.measure.device import synchronise
from profiles.measure.subject import Subject
from profiles.operations.implementation import Forward
from profiles.variant import parse_variant

UNCAPTURED = "fusescope.uncaptured"


def record_uncaptured(subject: Subject, device: torch.device) -> str | None:
    """One pass within an annotation, under the profiler that is running; nothing for compiled code without graphs,
    which has no more to tell. Returns why there is none, where it failed: no run fails for what this would tell."""
    execution = parse_variant(subject.variant).execution
    try:
        if isinstance(subject.function, CapturedCall):
            with marked_causes(subject.inputs):
                _one_pass(subject.function.captured, subject.inputs, device)
        elif not execution.compiles:
            with marked_causes(subject.inputs):
                _one_pass(subject.function, subject.inputs, device)
        elif execution.asks_for_graphs and device.type == "cuda":
            with _without_graphs():
                _one_pass(subject.function, subject.inputs, device)
            subject.call()  # torch leaves its warm-up state at the next call: not in anybody's measurement
            synchronise(device)
    except Exception as error:  # noqa: BLE001 - an extra pass through hooks, and through private state of torch
        told = f"{type(error).__name__}: {error}".splitlines()[0]
        return f"no uncaptured pass, so that modules, lines and operators of replays are unknown: {told}"
    return None


def _one_pass(function: Forward, inputs: Any, device: torch.device) -> None:
    with record_function(UNCAPTURED):
        output = function(inputs)
    synchronise(device)
    del output


@contextmanager
def _without_graphs() -> Iterator[None]:
    """Torch's own graphs stand aside: each function runs as in its warm-up, the same code launched kernel by kernel."""
    inductor: Any = torch._inductor
    with inductor.config.patch("triton.force_cudagraphs_warmup", True):
        yield
