"""The arithmetic behind times: busy time from records, energy, settling, what a candidate's series become."""

from __future__ import annotations

import time
from itertools import cycle
from pathlib import Path

import pytest
import torch
from torch import Tensor

from profiles.measure import energy
from profiles.measure.conditions import Observer
from profiles.measure.cupti_time import MARK, RecordsError, Slice, between_marks, busy_ns
from profiles.measure.energy import Energy, Meter, PowerSum, RaplCounter, idle_power_w, measure_energy
from profiles.measure.gate import Gate
from profiles.measure.gpu_time import GatedTimer
from profiles.measure.load import settled
from profiles.measure.memory import call_memory
from profiles.measure.nvml import GpuState, gpu_state, throttle_reasons
from profiles.measure.rounds import Pace
from profiles.measure.samples import Series
from profiles.measure.sync_time import time_lone_call
from profiles.measure.times import RECORDED, Times
from profiles.results import Metric
from tests.profiles.measure.given_subjects import subject_of

CPU = torch.device("cpu")


# --- busy time ------------------------------------------------------------------------------------------------------


def mark(at: int) -> Slice:
    return Slice(f"void at::cuda::(anonymous namespace)::{MARK}(long)", at, at + 5)


def test_overlapping_work_counts_once_and_gaps_do_not_count() -> None:
    slices = [Slice("a", 0, 10), Slice("b", 5, 12), Slice("c", 6, 8), Slice("d", 20, 25)]
    assert busy_ns(slices) == 12 + 5


def test_only_what_lies_between_marks_is_a_call() -> None:
    flush = Slice("fill", 0, 50)
    first = [mark(100), Slice("gemm", 110, 210), Slice("add", 300, 310), mark(400)]
    second = [mark(600), Slice("gemm", 610, 700), mark(710)]
    shuffled = [*second, Slice("fill", 500, 590), *reversed(first), flush]
    assert between_marks(shuffled) == [110.0, 90.0]


def test_marks_that_are_not_in_pairs_tell_nothing() -> None:
    with pytest.raises(RecordsError, match="3 marks were recorded, an odd number"):
        between_marks([mark(0), Slice("a", 10, 20), mark(30), mark(60)])


def test_a_call_without_work_tells_nothing() -> None:
    with pytest.raises(RecordsError, match="no work on the device"):
        between_marks([mark(0), mark(30)])


# --- what a candidate's series become -------------------------------------------------------------------------------


class NoGate(Gate):
    """As a torch without a spin kernel has it."""

    def __init__(self) -> None:
        self.window_ns = 0.0
        self._spin = None


def times_of(pace: Pace = Pace(3, 8, 0.025)) -> Times:  # noqa: B008 - frozen
    return Times(pace=pace, gated=GatedTimer(CPU, NoGate()))


def filled(value: float, *, builds: int = 8) -> Series:
    found = Series()
    for build in range(builds):
        for _ in range(3):
            found.add(value, build=build, at_s=build / 10)
    return found


def gpu_time(times: Times) -> Metric:
    return next(metric for metric in times.metrics() if metric.name == "gpu_time")


def test_where_no_gate_holds_the_drivers_records_are_the_gpu_time_without_a_doubt() -> None:
    times = times_of()
    times.series |= {"gpu_time": filled(9000), RECORDED: filled(5000), "graph_time": filled(6000)}
    found = gpu_time(times)
    assert (found.value, found.method, found.doubt) == (5000.0, "CUPTI busy time", None)


def test_without_records_replays_of_a_graph_are_the_gpu_time() -> None:
    times = times_of()
    times.series |= {"gpu_time": filled(9000), "graph_time": filled(6000)}
    found = gpu_time(times)
    assert (found.value, found.method, found.doubt) == (6000.0, "graph replay", None)


def test_replays_that_no_gate_held_are_doubtful_as_graph_time_and_where_they_stand_for_the_gpu_time() -> None:
    times = times_of()
    times.graph_doubt = "waits for the host may be included"
    times.series |= {"gpu_time": filled(9000), "graph_time": filled(6000)}
    doubts = {metric.name: metric.doubt for metric in times.metrics()}
    assert doubts == {"gpu_time": times.graph_doubt, "graph_time": times.graph_doubt}


def test_with_neither_the_number_stays_and_is_doubtful() -> None:
    times = times_of()
    times.series |= {"gpu_time": filled(9000), "host_time": filled(100)}
    found = gpu_time(times)
    assert (found.value, found.method) == (9000.0, "gated events")
    assert found.doubt is not None
    assert "waits for the host are included" in found.doubt
    host_time = next(metric for metric in times.metrics() if metric.name == "host_time")
    assert host_time.doubt is not None
    assert times.principal == "call_time"


def test_who_watches_sees_the_time_that_decides() -> None:
    times = times_of()
    times.series |= {"gpu_time": filled(9000), "call_time": filled(7000)}
    assert times.so_far == "7.0 µs", "the gate gave up: what it held is no time of the GPU"
    assert times.gated is not None
    times.gated.gave_up = False
    assert times.so_far == "9.0 µs"
    assert Times().so_far is None


def test_fewer_builds_than_planned_are_a_doubt() -> None:
    times = Times(pace=Pace(3, 8, 0.025))
    times.series["call_time"] = filled(1000, builds=7)
    (call_time,) = times.metrics()
    assert call_time.doubt == "only 21 samples in 7 of 8 builds fitted into the budget"


def test_late_samples_are_told_in_a_note() -> None:
    times = Times(gated=GatedTimer(CPU, NoGate()))
    assert times.gated is not None
    times.gated.gave_up = False
    times.gated.late = 2
    assert times.all_notes == ("gpu_time: 2 late samples were void and taken again behind a longer gate",)


def test_energy_becomes_two_metrics_in_joules() -> None:
    times = Times(pace=Pace(3, 8, 0.025), energy=Energy(0.5, 0.4, 1000, "NVML energy counter"))
    gross, net = times.metrics()
    assert (gross.name, gross.unit, gross.value, gross.statistic) == ("energy_gross", "J", 0.5, "mean of 1,000 calls")
    assert (net.name, net.value, net.method) == ("energy_net", 0.4, "NVML energy counter")


# --- lone calls and memory ------------------------------------------------------------------------------------------


def test_a_lone_call_on_a_cpu_has_returned_when_it_is_done() -> None:
    x = torch.ones(64, 64)
    lone = time_lone_call(lambda: x @ x, CPU, lambda: None)
    assert 0 < lone.enqueue_ns <= lone.total_ns


def test_what_prepares_a_lone_call_comes_before_it_and_is_not_timed() -> None:
    done = []

    def prepare() -> None:
        time.sleep(0.05)
        done.append("prepared")

    lone = time_lone_call(lambda: done.append("called"), CPU, prepare)
    assert done == ["prepared", "called"]
    assert lone.total_ns < 40e6


def test_an_output_within_the_inputs_own_memory_is_no_new_memory() -> None:
    def in_place(x: Tensor) -> Tensor:
        x.add_(1.0)
        return x.view(-1)

    found = call_memory(subject_of(in_place, torch.ones(1 << 16)), CPU)
    assert found.workspace == found.peak


# --- energy ---------------------------------------------------------------------------------------------------------


def test_power_read_now_and_then_adds_up_to_energy() -> None:
    powers, moments = iter([100.0, 200.0, 200.0]), iter([0.0, 1.0, 3.0])
    meter = PowerSum(lambda: next(powers), lambda: next(moments))
    assert meter() == pytest.approx(150.0)
    assert meter() == pytest.approx(150.0 + 400.0)


def test_a_counter_that_begins_again_goes_on(tmp_path: Path) -> None:
    counter, limit = tmp_path / "energy_uj", tmp_path / "max_energy_range_uj"
    limit.write_text("1000000\n")
    counter.write_text("900000\n")
    rapl = RaplCounter(tmp_path)
    assert rapl.readable
    first = rapl()
    counter.write_text("100000\n")
    assert rapl() - first == pytest.approx(0.2)


def test_a_counter_that_may_not_be_read_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not RaplCounter(tmp_path / "missing").readable
    monkeypatch.setattr(energy, "RAPL", tmp_path / "missing")
    assert energy.meter(CPU) is None


def test_net_energy_leaves_out_what_the_idle_device_draws() -> None:
    """A meter that counts 10 W whatever is done: nothing is left for the calls."""
    start = time.monotonic()
    steady = Meter("steady", lambda: 10.0 * (time.monotonic() - start))
    idle_w = idle_power_w(steady, CPU, seconds=0.1)
    assert idle_w == pytest.approx(10.0, rel=0.05)
    subject = subject_of(lambda x: x + 1, torch.ones(100))
    found = measure_energy(cycle([subject]), CPU, steady, idle_w=idle_w, seconds_per_call=1e-4, seconds=0.3)
    assert found.gross_j * found.calls == pytest.approx(3.0, rel=0.5)
    assert abs(found.net_j) < 0.05 * found.gross_j


# --- the device's state ---------------------------------------------------------------------------------------------


def test_throttle_reasons_are_words_and_an_idle_gpu_is_no_reason() -> None:
    assert throttle_reasons(0x1 | 0x2 | 0x100) == ()
    assert throttle_reasons(0x4 | 0x40 | 0x1) == ("power_cap", "hardware_thermal")


def test_a_device_has_settled_when_clock_and_temperature_stay() -> None:
    steady = [GpuState(1980, 60)] * 4
    assert settled(steady)
    assert not settled(steady[:3])
    assert not settled([GpuState(1980 - 50 * n, 60) for n in range(4)])
    assert not settled([GpuState(1980, 50 + 2 * n) for n in range(4)])
    assert settled([GpuState(1980, 70 - n) for n in range(4)])  # it cools: warm enough
    assert not settled([GpuState()] * 10)


def test_a_cpu_has_one_block_per_build_and_no_clock() -> None:
    observer = Observer()
    for build in (0, 0, 1, 1, 2):
        observer.after_block(CPU, build=build, at_s=build + 0.12345)
    assert [(block.build, block.at_s) for block in observer.blocks] == [(0, 0.123), (1, 1.123), (2, 2.123)]
    assert gpu_state(CPU) == GpuState()
