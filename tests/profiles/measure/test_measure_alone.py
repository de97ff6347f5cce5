"""The timing that scripts carry, as far as a CPU can tell: what is void, what comes before what, what is copied."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from profiles.measure import alone


@dataclass
class Stream:
    """A device on which a call is enqueued in time only behind a gate of `held` cycles."""

    held: int
    log: list[str] = field(default_factory=list)
    cycles: int = 0

    def Event(self, *, enable_timing: bool) -> Event:  # noqa: N802 - torch's name
        assert enable_timing
        return Event(self)

    def _sleep(self, cycles: int) -> None:
        self.cycles = cycles
        self.log.append("gate")

    def synchronize(self, device: torch.device) -> None:
        assert device.type == "cuda"


@dataclass
class Event:
    stream: Stream

    def record(self) -> None:
        self.stream.log.append("event")

    def query(self) -> bool:
        return self.stream.cycles < self.stream.held

    def synchronize(self) -> None:
        self.stream.log.append("wait")

    def elapsed_time(self, _: Event) -> float:
        return self.stream.cycles / 1e9


def sampled(stream: Stream, monkeypatch: pytest.MonkeyPatch, *, samples: int, window_ns: float = 0.0) -> list[float]:
    monkeypatch.setattr(alone, "cuda", stream)
    monkeypatch.setattr(alone, "WARM_UP_S", 0.0)
    call, prepare = (lambda: stream.log.append("call")), (lambda: stream.log.append("flush"))
    return alone.gpu_times(call, torch.device("cuda"), samples, prepare, window_ns=window_ns)


def test_what_the_events_hold_themselves_is_taken_off_each_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = sampled(Stream(held=0), monkeypatch, samples=1)
    less = sampled(Stream(held=0), monkeypatch, samples=1, window_ns=100.0)
    assert less == [whole[0] - 100.0]


def test_a_sample_whose_gate_opened_too_early_is_void_and_the_gate_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    times = sampled(Stream(held=1_500_000), monkeypatch, samples=3)
    assert times == [2_000_000 / 1e3] * 3  # never those of 500,000 and 1,000,000 cycles


def test_late_samples_count_where_no_gate_is_long_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    times = sampled(Stream(held=1 << 62), monkeypatch, samples=2)
    assert len(times) == 2
    assert times[0] * 1e3 >= alone.MOST_CYCLES


def test_the_flush_and_the_gate_lie_before_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(held=0)
    sampled(stream, monkeypatch, samples=2)
    warm_up = ["call"] * 3
    assert stream.log == [*warm_up, *["flush", "gate", "event", "call", "event", "wait"] * 2]


@dataclass(frozen=True)
class Inputs:
    x: Tensor
    mask: Tensor
    weight: nn.Parameter
    scale: float


class Cache:
    """A CUDA device's properties, of a cache of 64 bytes."""

    L2_cache_size = 64

    @staticmethod
    def get_device_properties(_: torch.device) -> type[Cache]:
        return Cache


@pytest.fixture
def inputs(monkeypatch: pytest.MonkeyPatch) -> Inputs:
    monkeypatch.setattr(alone, "cuda", Cache)
    weight = nn.Parameter(torch.ones(2, 4), requires_grad=False)
    return Inputs(torch.zeros(3, 4), torch.ones(3, dtype=torch.bool), weight, 0.5)


def test_cold_copies_outgrow_the_cache_with_all_that_is_read(inputs: Inputs) -> None:
    made = alone.copies(inputs, alone.tensors(inputs), torch.device("cuda"))
    assert len(made) == math.ceil(3 * 64 / (48 + 3 + 32))
    assert made[0] is inputs
    assert all(torch.equal(one.x, inputs.x) and torch.equal(one.weight, inputs.weight) for one in made)
    assert len({one.x.data_ptr() for one in made}) == len({one.weight.data_ptr() for one in made}) == len(made)


def test_in_context_the_weights_alone_outgrow_it(inputs: Inputs) -> None:
    rotated, shared = alone.weights(inputs), alone.activations(inputs)
    made = alone.copies(inputs, rotated, torch.device("cuda"), shared=shared)
    assert len(made) == math.ceil(3 * 64 / 32)
    assert {id(one.x) for one in made} == {id(inputs.x)}
    assert len({one.weight.data_ptr() for one in made}) == len(made)


def test_weights_that_stay_in_place_are_the_same_in_all_copies_and_copies_are_limited(inputs: Inputs) -> None:
    shared = alone.weights(inputs)
    made = alone.copies(inputs, alone.tensors(inputs), torch.device("cuda"), shared=shared, most=2)
    assert len(made) == 2
    assert {id(one.weight) for one in made} == {id(inputs.weight)}


def test_a_models_weights_are_weights() -> None:
    @dataclass(frozen=True)
    class Model:
        model: nn.Module
        tokens: Tensor

    model = Model(nn.BatchNorm1d(4), torch.zeros(2, dtype=torch.int64))
    assert len(alone.weights(model)) == 2 + 3  # parameters and buffers
    assert len(alone.tensors(model)) == 6
    assert alone.activations(model) == []


def test_a_cpu_has_one_copy_and_so_has_what_reads_nothing(inputs: Inputs) -> None:
    assert alone.copies(inputs, alone.tensors(inputs), torch.device("cpu")) == [inputs]
    assert alone.copies(inputs, [], torch.device("cuda")) == [inputs]


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_an_output_with_what_is_no_number_never_passes(bad: float) -> None:
    expected = (torch.ones(4, 4).double(), torch.ones(2).double())
    output: Any = (torch.full((4, 4), bad), torch.ones(2))
    assert not alone.relative_error(output, expected) <= 1.0
    assert not alone.worst_row_error((output[0],), expected[:1]) <= 1.0


def test_one_wrong_row_shows_where_the_whole_hides_it() -> None:
    expected = torch.ones(1000, 8, dtype=torch.float64)
    output = expected.clone()
    output[7] = 0
    assert alone.relative_error(output, (expected,)) == pytest.approx(math.sqrt(1 / 1000))
    assert alone.worst_row_error(output, (expected,)) == pytest.approx(1.0)


def test_a_time_is_written_in_the_unit_that_suits_it() -> None:
    assert alone.in_words(1_071_460.0, 1_070_300.0, 1_072_420.0) == "1,071.5 µs (1,070.3–1,072.4)"
    assert alone.in_words(119_019_000.0, None, None) == "119.0 ms"
