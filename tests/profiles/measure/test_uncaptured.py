"""The uncaptured pass on a CPU: its marks, what the run's passes learn from it, and what becomes of one that fails."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from profiles.measure.cause_marks import marked_causes
from profiles.measure.cuda_graph import CapturedCall
from profiles.measure.recording import record
from profiles.measure.subject import Subject
from profiles.trace.forward import ForwardSummary, per_forward
from profiles.trace.read import read_trace

CPU = torch.device("cpu")


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(8, 16)
        self.down = nn.Linear(16, 8)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(torch.relu(self.up(x)))  # type: ignore[no-any-return]


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Layer(), Layer()])

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x * 2


@dataclass(frozen=True)
class Inputs:
    model: Net
    x: Tensor


def recorded(function: Callable[[Any], Tensor], directory: Path) -> tuple[ForwardSummary, str | None]:
    inputs = Inputs(Net(), torch.ones(4, 8))
    subject = Subject("naive", function, inputs, lambda _: nullcontext(), directory / "cache")
    with torch.no_grad():
        note = record(subject, CPU, directory / "trace.json.gz", steps=2)
    return per_forward(read_trace(directory / "trace.json.gz"), device="cpu"), note


def test_operators_learn_their_modules_and_lines_from_the_pass_with_marks(tmp_path: Path) -> None:
    forward, note = recorded(lambda inputs: inputs.model(inputs.x), tmp_path)
    assert note is None
    assert forward.counts.operators == 7  # of each pass, the uncaptured one not among them
    by_name = {use.short_name: causes for use, causes in zip(forward.kernels, forward.causes, strict=True)}
    assert by_name["addmm"].modules == ("Net.layers.0.up", "Net.layers.0.down", "Net.layers.1.up", "Net.layers.1.down")
    assert by_name["addmm"].operators == ("aten::linear",)
    assert by_name["mul"].modules == ("Net",)
    (line,) = by_name["mul"].sources
    multiplied = 1 + next(n for n, text in enumerate(Path(__file__).read_text().splitlines()) if "return x * 2" in text)
    assert line.endswith(f"test_uncaptured.py({multiplied}): forward")
    assert all(causes.inferred for causes in forward.causes)


def test_a_pass_that_fails_is_a_note_and_no_failure(tmp_path: Path) -> None:
    calls = []

    def fails_at_last(inputs: Inputs) -> Tensor:
        calls.append(1)
        if len(calls) == 4:  # one to warm up, two traced
            raise RuntimeError("no more memory\nfor this")
        return inputs.model(inputs.x)  # type: ignore[no-any-return]

    forward, note = recorded(fails_at_last, tmp_path)
    assert note == (
        "no uncaptured pass, so that modules, lines and operators of replays are unknown: RuntimeError: no more memory"
    )
    assert forward.counts.operators == 7
    assert not any(causes.modules or causes.inferred for causes in forward.causes)


def test_of_a_captured_call_the_function_itself_is_called(tmp_path: Path) -> None:
    called: list[str] = []

    class Replayed(CapturedCall):
        def __call__(self, inputs: Inputs) -> Tensor:
            called.append("replay")
            return inputs.x + 1

    def captured(inputs: Inputs) -> Tensor:
        called.append("uncaptured")
        return inputs.x + 1

    recorded(Replayed(captured), tmp_path)
    assert called == ["replay", "replay", "replay", "uncaptured"]


def test_marks_leave_no_hook_and_no_mode_behind() -> None:
    inputs = Inputs(Net(), torch.ones(4, 8))
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"), marked_causes(inputs):
        inputs.model(torch.ones(4, 9))
    with torch.profiler.profile() as profiler:
        inputs.model(inputs.x)
    assert not [event.key for event in profiler.key_averages() if event.key.startswith("fusescope.")]
