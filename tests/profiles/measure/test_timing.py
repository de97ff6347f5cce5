"""Timing on a CPU, with real functions: builds, stopping, twins, failures; decisions on series made by hand."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from profiles.measure import load
from profiles.measure.candidate import Candidate
from profiles.measure.failures import VariantError
from profiles.measure.rounds import Pace
from profiles.measure.samples import Series
from profiles.measure.steps import singles
from profiles.measure.stopping import compared, decided
from profiles.measure.sweep import takes_part
from profiles.measure.timing import time_functions
from profiles.plan import Load, Plan
from profiles.results import Metric, RunStatus
from profiles.workload import DType, Workload
from tests.profiles.measure.child import QUICK, heard_to_the_end, started
from tests.profiles.measure.given_subjects import subject_of

CPU = torch.device("cpu")
SHORT = Plan(samples=20, builds=4, budget_s=1.0)


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Threads that wait for each other on a busy machine take milliseconds where a call takes microseconds."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@dataclass(frozen=True)
class Pair:
    x: Tensor
    y: Tensor


def pair(seed: int) -> Pair:
    generator = torch.Generator().manual_seed(seed)
    return Pair(torch.randn(64, 64, generator=generator), torch.randn(64, 64, generator=generator))


def multiply(p: Pair) -> Tensor:
    return p.x @ p.y


def metric(found: tuple[Metric, ...], name: str) -> Metric:
    return next(m for m in found if m.name == name)


@pytest.fixture(scope="module")
def product_and_sum() -> dict[str, tuple[Metric, ...]]:
    return time_functions({"product": multiply, "sum": lambda p: p.x + p.y}, pair, device=CPU, plan=SHORT, seed=1)


def test_every_sample_knows_its_build_and_moment(product_and_sum: dict[str, tuple[Metric, ...]]) -> None:
    for found in product_and_sum.values():
        for name in ("call_time", "sync_time"):
            time_found = metric(found, name)
            assert time_found.samples is not None
            assert time_found.builds is not None
            assert time_found.at_s is not None
            assert len(time_found.samples) == len(time_found.builds) == len(time_found.at_s) >= 20
            assert set(time_found.builds) >= set(range(SHORT.builds))
            assert list(time_found.builds) == sorted(time_found.builds)
            assert list(time_found.at_s) == sorted(time_found.at_s)
            assert time_found.doubt is None


def test_a_cpu_has_no_times_of_a_gpu(product_and_sum: dict[str, tuple[Metric, ...]]) -> None:
    assert [m.name for m in product_and_sum["product"]] == ["call_time", "sync_time"]


def test_a_lone_call_takes_about_as_long_as_one_among_many(product_and_sum: dict[str, tuple[Metric, ...]]) -> None:
    found = product_and_sum["product"]
    assert metric(found, "sync_time").value > metric(found, "call_time").value / 4


def test_what_the_first_call_after_a_rest_takes_is_in_no_sample() -> None:
    """A host whose caches are cold after a rest, as a service's are: 2 ms where a call takes 20 µs."""
    returned_s = 0.0

    def slow_after_a_rest(p: Pair) -> Tensor:
        nonlocal returned_s
        if time.perf_counter() - returned_s > 0.003:
            time.sleep(0.002)
        found = p.x @ p.y
        returned_s = time.perf_counter()
        return found

    found = time_functions({"slow": slow_after_a_rest}, pair, device=CPU, plan=SHORT)["slow"]
    assert metric(found, "sync_time").value < 1e6
    assert metric(found, "call_time").value < 1e6


def test_buffers_change_from_build_to_build_and_are_the_functions_own() -> None:
    seen: dict[str, list[int]] = {"one": [], "other": []}

    def remembering(name: str) -> Any:
        def function(p: Pair) -> Tensor:
            if not seen[name] or seen[name][-1] != p.x.data_ptr():
                seen[name].append(p.x.data_ptr())
            return p.x + p.y

        return function

    time_functions({name: remembering(name) for name in seen}, pair, device=CPU, plan=SHORT)
    for addresses in seen.values():
        fresh = addresses[1:]  # the first are those of the warm-up
        assert len(set(fresh)) == len(fresh) >= SHORT.builds
    assert not set(seen["one"][1:]) & set(seen["other"][1:])


def test_timing_ends_with_the_budget_where_nothing_can_be_decided() -> None:
    """Two different functions whose times scatter by themselves, and a margin that no scatter meets."""
    hopeless = Plan(samples=20, builds=4, budget_s=5.0, margin=1e-6)
    start = time.monotonic()
    found = time_functions({"product": multiply, "sum": lambda p: p.x + p.y}, pair, device=CPU, plan=hopeless)
    spent_s = time.monotonic() - start
    builds = metric(found["product"], "call_time").builds
    assert builds is not None
    assert max(builds) >= hopeless.builds  # it went on after the plan's builds
    assert spent_s < 5.0 + 2 * 0.3 + 3.0  # the warm-ups, and a busy machine


def test_timing_ends_with_the_plans_builds_where_there_is_nothing_to_decide() -> None:
    builds = metric(time_functions({"product": multiply}, pair, device=CPU, plan=SHORT)["product"], "call_time").builds
    assert builds is not None
    assert max(builds) == SHORT.builds - 1


def test_calls_so_long_that_builds_do_not_fit_have_fewer_with_a_doubt() -> None:
    def naps(p: Pair) -> Tensor:
        time.sleep(0.7)
        return p.x

    found = time_functions({"naps": naps}, pair, device=CPU, plan=Plan(samples=20, builds=8, budget_s=1.0))
    call_time = metric(found["naps"], "call_time")
    assert call_time.samples is not None
    assert len(call_time.samples) == 3
    assert call_time.doubt == "only 3 samples: one call takes 0.7 s"


@pytest.mark.parametrize(("kind", "rests"), [(Load.BURST, True), (Load.SUSTAINED, False)])
def test_before_a_block_the_device_rests_or_is_kept_busy(kind: Load, rests: bool) -> None:
    called_s: list[float] = []
    start = time.monotonic()
    load.before_block(kind, lambda: called_s.append(time.monotonic()), CPU, block_s=1.0)
    assert time.monotonic() - start >= load.REST_S
    assert (called_s == []) == rests


def test_under_sustained_load_the_device_settles_before_it_is_timed() -> None:
    plan = Plan(samples=20, builds=2, budget_s=1.0, load=Load.SUSTAINED)
    start = time.monotonic()
    time_functions({"product": multiply}, pair, device=CPU, plan=plan)
    assert time.monotonic() - start >= load.CPU_SETTLING_S


def test_what_a_function_raises_names_it() -> None:
    def raises(_: Pair) -> Tensor:
        raise ZeroDivisionError("by zero")

    with pytest.raises(VariantError, match="by zero") as caught:
        time_functions({"product": multiply, "raises": raises}, pair, device=CPU, plan=SHORT)
    assert caught.value.run.variant == "raises"


def test_a_compiled_function_is_not_compiled_again_for_new_buffers() -> None:
    import torch._dynamo

    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    compiled = torch.compile(multiply, fullgraph=True, dynamic=False, backend="aot_eager")
    time_functions({"compiled": compiled}, pair, device=CPU, plan=SHORT)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


# --- stopping -------------------------------------------------------------------------------------------------------


def series(*medians: float) -> Series:
    found = Series()
    for build, median in enumerate(medians):
        for noise in (-1.0, 0.0, 1.0):
            found.add(median + noise, build=build, at_s=float(build))
    return found


def test_a_ratio_that_every_build_agrees_on_is_decided() -> None:
    pairs = [(series(1000, 1001, 1000, 999, 1000, 1000, 1001, 1000), series(500, 500, 500, 500, 500, 500, 500, 500))]
    assert decided(pairs, margin=0.005)
    assert not decided(pairs, margin=0.0005)


def test_one_undecided_pair_keeps_all_waiting_and_no_pair_keeps_nobody() -> None:
    steady, wild = series(*[1000.0] * 8), series(1000, 900, 1100, 950, 1050, 1000, 1200, 800)
    assert not decided([(steady, steady), (steady, wild)], margin=0.005)
    assert decided([], margin=0.005)


def test_two_builds_decide_nothing() -> None:
    assert not decided([(series(1000, 1000), series(500, 500))], margin=0.1)


def candidate(variant: str, *, doubt: str | None = None, twin: Candidate | None = None) -> Candidate:
    found = Candidate(subject_of(multiply, variant=variant), twin=twin)
    found.times.pace = Pace(3, 8, 0.025, doubt)
    found.times.series["call_time"] = series(1000.0)
    return found


def test_candidates_are_compared_with_the_baseline_and_twins_with_their_own_first() -> None:
    slow, lost, twin = candidate("slow", doubt="only 3 samples"), candidate("lost"), candidate("flash")
    flash, naive = candidate("flash", twin=twin), candidate("naive")
    found = compared([slow, flash, lost, naive], lost=lambda c: c is lost, baseline="naive")
    firsts = [(id(a), id(b)) for a, b in found]
    call_times = {c.variant: id(c.times.series["call_time"]) for c in (naive, flash)}
    assert firsts == [
        (call_times["naive"], call_times["flash"]),
        (call_times["flash"], id(twin.times.series["call_time"])),
    ]


def test_without_the_baseline_the_first_candidate_is_compared_with() -> None:
    one, other = candidate("one"), candidate("other")
    ((first, second),) = compared([one, other], lost=lambda _: False, baseline="absent")
    assert first is one.times.series["call_time"]
    assert second is other.times.series["call_time"]


def test_a_slow_candidate_is_spared_the_builds_beyond_the_least() -> None:
    slow, usual = Pace(1, 3, 0.025, "only 3 samples"), Pace(4, 8, 0.025)
    assert [takes_part(slow, build, extra=False) for build in (2, 3)] == [True, False]
    assert [takes_part(pace, 8, extra=True) for pace in (slow, usual)] == [False, True]


def test_short_calls_are_sampled_several_times_in_a_turn() -> None:
    assert [singles(seconds) for seconds in (1e-5, 2e-3, 5e-3, 1.0)] == [5, 5, 2, 1]


# --- twins ----------------------------------------------------------------------------------------------------------


def test_twins_are_timed_apart_and_reported_with_their_variant(tmp_path: Path) -> None:
    workload = Workload(operation="residual_rms_norm", axes={"rows": 64, "width": 64}, dtype=DType.FP32)
    variants = ("functional", "functional@compile")
    with started(tmp_path, workload=workload, variants=variants, twins=True) as child:
        heard = heard_to_the_end(child)
    assert set(heard.runs) == set(variants)
    for run in heard.runs.values():
        assert run.status is RunStatus.SUCCEEDED
        own, twin = run.metric("call_time"), next(m for m in run.twin if m.name == "call_time")
        assert own is not None
        assert own.samples is not None
        assert twin.samples is not None
        assert len(own.samples) == len(twin.samples)
        assert own.samples != twin.samples
        assert own.builds == twin.builds
        assert {m.name for m in run.twin} == {"call_time", "sync_time"}
    compilation = heard.runs["functional@compile"].compilation
    assert compilation is not None
    assert (compilation.recompiles, compilation.limit_hit) == ((), False)  # parameters in new memory, too
    assert {block.build for block in heard.runs["functional"].blocks} >= set(range(QUICK.builds))


def test_without_twins_a_run_has_none(tmp_path: Path) -> None:
    with started(tmp_path) as child:
        heard = heard_to_the_end(child)
    assert heard.runs["naive"].twin == ()
