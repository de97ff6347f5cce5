"""First visits to new shapes: a neighbour of every workload, and walks along an axis."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
import torch

from profiles import catalog
from profiles.measure import loading
from profiles.measure.subject import build
from profiles.measure.visit import visit_new_shape
from profiles.measure.walk import recompiling
from profiles.plan import Order, Walk
from profiles.presets import PRESETS
from profiles.protocol import Phase
from profiles.results import FailureKind, Run, RunStatus
from profiles.workload import DType, Workload
from tests.profiles.measure.child import QUICK, SMALL, Heard, heard_to_the_end, started
from tests.profiles.measure.misbehaving import DOUBLING, FURTHER, LARGE, WALKERS

WALKING = msgspec.structs.replace(QUICK, walk=Walk(axis="seq_q", last=40, step=2))
MISBEHAVING = "tests.profiles.measure.misbehaving"
DECODE = Workload(operation="attention", axes={**SMALL.axes, "seq_q": 1, "causal": False}, dtype=DType.FP32)
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Heard:
    """Both lengths of a small attention from 32 to 40, by three variants, one of which no CPU has."""
    directory = tmp_path_factory.mktemp("walked")
    with started(directory, variants=("naive", "sdpa_flash", "sdpa_cudnn"), plan=WALKING) as child:
        return heard_to_the_end(child)


@pytest.fixture(scope="module")
def misbehaving(tmp_path_factory: pytest.TempPathFactory) -> Heard:
    """A walk on which all but two variants stumble."""
    plan = msgspec.structs.replace(QUICK, walk=Walk(axis="rows", last=LARGE + 4))
    directory = tmp_path_factory.mktemp("misbehaving")
    with started(directory, workload=DOUBLING, variants=WALKERS, plan=plan, program=MISBEHAVING) as child:
        return heard_to_the_end(child)


def test_a_walk_visits_every_value_twice_in_order(walked: Heard) -> None:
    assert walked.code == 0
    for variant in ("naive", "sdpa_flash"):
        run = walked.runs[variant]
        assert run.status is RunStatus.SUCCEEDED, run.failure
        assert run.visits is not None
        assert run.visits.axis == "seq_q"
        assert [visit.value for visit in run.visits.visits] == [32, 34, 36, 38, 40]
        assert all(visit.first_ns > 0 and visit.second_ns > 0 for visit in run.visits.visits)
    assert walked.runs["sdpa_cudnn"].status is RunStatus.REFUSED


def test_a_walk_says_where_it_is_after_the_first_call_and_before_the_check(walked: Heard) -> None:
    naive = [event for event in walked.progress if event.variant == "naive"]
    said = [event.so_far for event in naive if event.phase is Phase.VISITED]
    assert said[0] == "query length 32 of 32…40"
    phases = [event.phase for event in naive]
    assert sorted(phases, key=list(Phase).index) == phases
    assert set(phases) == set(Phase)


def test_every_variant_visits_a_neighbouring_shape_once_and_again(walked: Heard) -> None:
    for variant in ("naive", "sdpa_flash"):
        for name in ("first_shape", "second_visit"):
            metric = walked.runs[variant].metric(name)
            assert metric is not None
            assert (metric.unit, metric.statistic, metric.samples) == ("ns", "single", None)
            assert metric.value > 0
        assert walked.runs[variant].notes == ()


def _failure(run: Run) -> tuple[FailureKind, str]:
    assert run.failure is not None
    return run.failure.kind, run.failure.message


def test_a_death_on_a_walk_is_the_variants_failure_with_the_value(misbehaving: Heard) -> None:
    kind, message = _failure(misbehaving.runs["dies_further_on"])
    assert kind is FailureKind.CRASHED
    assert message.startswith(f"at row count {FURTHER}: the process was killed by SIGKILL")


def test_an_error_on_a_walk_is_told_with_the_value(misbehaving: Heard) -> None:
    assert _failure(misbehaving.runs["raises_further_on"]) == (
        FailureKind.CRASHED,
        f"at row count {FURTHER}: ZeroDivisionError: {FURTHER} by zero",
    )


def test_an_output_that_is_wrong_at_one_value_is_incorrect(misbehaving: Heard) -> None:
    run = misbehaving.runs["is_wrong_further_on"]
    assert run.status is RunStatus.INCORRECT
    assert _failure(run)[1].startswith(f"at row count {FURTHER}: relative error 0.05")
    assert run.correctness is not None
    assert not run.correctness.passed


def test_the_well_behaved_variant_ends_its_walk_whatever_the_others_do(misbehaving: Heard) -> None:
    assert misbehaving.code == 0
    assert set(misbehaving.runs) == set(WALKERS)
    well = misbehaving.runs["well"]
    assert well.status is RunStatus.SUCCEEDED
    assert well.visits is not None
    assert len(well.visits.visits) == 5


@pytest.mark.parametrize("order", list(Order))
def test_a_death_at_the_neighbour_costs_an_interleaved_variant_that_number_alone(tmp_path: Path, order: Order) -> None:
    """An isolated plan has one process for all: there it is the variant's end."""
    plan = msgspec.structs.replace(QUICK, order=order)
    with started(tmp_path, workload=DOUBLING, variants=("dies_next_door",), plan=plan, program=MISBEHAVING) as child:
        run = heard_to_the_end(child).runs["dies_next_door"]
    if order is Order.ISOLATED:
        assert _failure(run)[1].startswith("the process was killed by SIGKILL")
        return
    assert run.status is RunStatus.SUCCEEDED
    assert run.metric("first_call") is not None
    assert run.metric("first_shape") is None
    assert run.notes == ("no new shape was visited: its process died there",)


def test_an_isolated_plan_walks_and_visits_too(tmp_path: Path) -> None:
    plan = msgspec.structs.replace(WALKING, order=Order.ISOLATED)
    with started(tmp_path, variants=("naive", "sdpa_flash"), plan=plan) as child:
        heard = heard_to_the_end(child)
    for run in heard.runs.values():
        assert run.status is RunStatus.SUCCEEDED
        assert run.visits is not None
        assert run.metric("first_shape") is not None


@pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning")  # within torch, as its compiler starts
def test_a_compiled_variant_compiles_anew_at_its_neighbour(tmp_path: Path) -> None:
    workload = Workload(operation="residual_rms_norm", axes={"rows": 64, "width": 64}, dtype=DType.FP32)
    module = loading.operation_module(workload)
    inputs = module.inputs(workload, CPU)
    subject = build(workload, "functional@compile", inputs, device=CPU, compile_caches=tmp_path)
    with torch.no_grad():
        visited = visit_new_shape(subject, module, workload, device=CPU, first_call_ns=1)
    assert visited.first_ns is not None, visited.note
    assert visited.second_ns is not None
    assert visited.first_ns > 10 * visited.second_ns  # a compiler at work, and then not


def test_a_first_call_that_took_long_spares_the_visit_and_says_so() -> None:
    module = loading.operation_module(SMALL)
    subject = build(SMALL, "naive", module.inputs(SMALL, CPU), device=CPU, compile_caches=Path("unused"))
    spared = visit_new_shape(subject, module, SMALL, device=CPU, first_call_ns=int(21e9))
    assert (spared.first_ns, spared.second_ns) == (None, None)
    assert spared.note == "no new shape was visited: the first call took 21 s, over 20 s"


def test_what_goes_wrong_at_the_neighbour_is_a_note() -> None:
    module = loading.operation_module(DECODE)
    subject = build(DECODE, "sdpa_cudnn", module.inputs(DECODE, CPU), device=CPU, compile_caches=Path("unused"))
    failed = visit_new_shape(subject, module, DECODE, device=CPU, first_call_ns=1)
    assert failed.first_ns is None
    assert failed.note is not None
    assert failed.note.startswith("no new shape was visited: ")


@pytest.mark.parametrize("workload", [w for preset in PRESETS for ws in preset.workloads.values() for w in ws])
def test_every_workloads_neighbour_is_another_shape_that_the_catalogue_takes(workload: Workload) -> None:
    neighbour = loading.operation_module(workload).neighbour(workload)
    catalog.check_workload(neighbour)
    assert neighbour != workload


def test_the_neighbour_of_a_decoding_step_has_one_key_more_and_of_a_square_one_query_too() -> None:
    module = loading.operation_module(SMALL)
    decoding, square = module.neighbour(DECODE).axes, module.neighbour(SMALL).axes
    assert (decoding["seq_q"], decoding["seq_kv"]) == (1, 33)
    assert (square["seq_q"], square["seq_kv"]) == (33, 33)


@pytest.mark.parametrize("operation", ["swiglu", "residual_rms_norm", "decoder_prefill"])
def test_other_rows_meet_the_weights_that_are_there(operation: str) -> None:
    known = catalog.operation(operation)
    workload = Workload(operation=operation, axes={axis.name: axis.default for axis in known.axes}, dtype=DType.FP32)
    module = loading.operation_module(workload)
    inputs = module.inputs(workload, CPU)
    other = module.resized(inputs, module.neighbour(workload))
    weights = {"swiglu": "gate", "residual_rms_norm": "weight", "decoder_prefill": "model"}
    assert getattr(other, weights[operation]) is getattr(inputs, weights[operation])
    rows = {"swiglu": "x", "residual_rms_norm": "x", "decoder_prefill": "tokens"}[operation]
    assert getattr(other, rows).shape != getattr(inputs, rows).shape


def test_a_walk_compiles_at_more_shapes_than_torch_would() -> None:
    """Beyond eight torch runs a function eagerly, without a word."""
    compiled: list[int] = []

    def counting(graph: torch.fx.GraphModule, _: list[torch.Tensor]) -> object:
        compiled.append(1)
        return graph.forward

    def double(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    function = torch.compile(double, dynamic=False, backend=counting)
    with recompiling("functional@compile", 12):
        for rows in range(2, 14):
            function(torch.ones(rows))
    assert len(compiled) == 12
