"""The measuring child as a process: what it says, what it leaves, and what it survives."""

from __future__ import annotations

import gzip
import json
import os
import time
from pathlib import Path

import pytest

from profiles.plan import Plan
from profiles.protocol import Phase, Progress
from profiles.results import FailureKind, Run, RunStatus
from profiles.workload import DType, Workload
from tests.profiles.measure.child import QUICK, Child, Heard, heard_to_the_end, isolated, started
from tests.profiles.measure.misbehaving import DOUBLING, WAYS

LADDER = ("naive", "naive_inplace", "sdpa_auto", "sdpa_math", "sdpa_flash", "sdpa_efficient", "sdpa_cudnn")


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ladder")


@pytest.fixture(scope="module")
def ladder(directory: Path) -> Heard:
    """A small attention ladder, measured once for all the tests that only look at it."""
    with started(directory, variants=LADDER) as child:
        return heard_to_the_end(child)


def test_every_variant_of_the_ladder_ends_once_and_the_child_exits_with_0(ladder: Heard) -> None:
    assert ladder.code == 0
    assert set(ladder.runs) == set(LADDER)
    assert len(ladder.environments) == 1
    assert ladder.environments[0].environment.device == "cpu"


def test_backends_that_a_cpu_lacks_are_refused_with_the_reason_and_the_others_go_on(ladder: Heard) -> None:
    statuses = {variant: run.status for variant, run in ladder.runs.items()}
    assert {v for v, status in statuses.items() if status is RunStatus.SUCCEEDED} == set(LADDER[:5])
    assert {v for v, status in statuses.items() if status is RunStatus.REFUSED} == set(LADDER[5:])
    failure = ladder.runs["sdpa_cudnn"].failure
    assert failure is not None
    assert failure.kind is FailureKind.UNSUPPORTED
    assert failure.message == "torch has no cuDNN attention for CPU tensors"


def test_a_measured_variant_went_through_all_phases_in_order(ladder: Heard) -> None:
    phases = [event.phase for event in ladder.progress if event.variant == "naive"]
    assert sorted(phases, key=list(Phase).index) == phases
    assert set(phases) == set(Phase) - {Phase.VISITED}  # it does not walk


def test_all_variants_are_checked_before_the_first_is_timed(ladder: Heard) -> None:
    phases = [event.phase for event in ladder.progress]
    last_check = max(number for number, phase in enumerate(phases) if phase is Phase.CORRECT)
    assert phases.index(Phase.TIMED) > last_check


def test_times_have_their_samples_and_quartiles(ladder: Heard) -> None:
    for variant in LADDER[:5]:
        run = ladder.runs[variant]
        call_time = run.metric("call_time")
        assert call_time is not None
        assert call_time.low is not None
        assert call_time.high is not None
        assert call_time.samples is not None
        assert len(call_time.samples) >= 20
        assert 0 < call_time.low <= call_time.value <= call_time.high
        assert run.metric("gpu_time") is None


def test_rates_on_a_cpu_follow_from_the_calls_and_say_so(ladder: Heard) -> None:
    run = ladder.runs["naive"]
    call_time, tflops = run.metric("call_time"), run.metric("useful_tflops")
    assert call_time is not None
    assert tflops is not None
    assert tflops.statistic == "at median call_time"
    assert tflops.value == pytest.approx(4 * 2 * 16 * (32 * 33 // 2) / 1e12 / (call_time.value / 1e9), rel=1e-4)


def test_first_calls_are_single_and_correctness_is_against_the_tolerance(ladder: Heard) -> None:
    run = ladder.runs["sdpa_flash"]
    first_call = run.metric("first_call")
    assert first_call is not None
    assert (first_call.statistic, first_call.samples) == ("single", None)
    assert run.correctness is not None
    assert run.correctness.relative_l2 is not None
    assert run.correctness.relative_l2 < run.correctness.tolerance == 1e-5


def test_naive_needs_more_memory_than_a_fused_kernel(ladder: Heard) -> None:
    naive, flash = (ladder.runs[variant].metric("peak_memory") for variant in ("naive", "sdpa_flash"))
    assert naive is not None
    assert flash is not None
    scores = 2 * 32 * 32 * 4
    assert naive.value >= 2 * scores  # the scores and their masked copy live at the same time
    assert flash.value < naive.value


def test_a_trace_has_the_plans_forwards_with_their_stages(ladder: Heard, directory: Path) -> None:
    trace = ladder.finished["naive"].trace_file
    assert trace == "naive.json.gz"
    with gzip.open(directory / trace) as file:
        names = [event["name"] for event in json.load(file)["traceEvents"] if event.get("cat") == "user_annotation"]
    assert [name for name in names if name.startswith("fusescope.forward")] == [
        "fusescope.forward#0",
        "fusescope.forward#1",
    ]
    passes = [name for name in names if name in {"fusescope.stage:softmax", "fusescope.uncaptured"}]
    assert passes.count("fusescope.stage:softmax") == 2 + passes.count("fusescope.uncaptured") == 3
    assert any(name.startswith("fusescope.source:profiles/operations/attention.py(") for name in names)


def test_nothing_is_left_beside_the_traces(ladder: Heard, directory: Path) -> None:
    assert ladder.code == 0
    assert {path.name for path in directory.iterdir()} == {"spec.json", *(f"{v}.json.gz" for v in LADDER[:5])}


def first_progress(child: Child, phase: Phase) -> Progress:
    return next(event for event in child.events if isinstance(event, Progress) and event.phase is phase)


@pytest.fixture(scope="module")
def misbehaving(tmp_path_factory: pytest.TempPathFactory) -> Heard:
    """Implementations that go wrong in every way, with one that does not."""
    directory = tmp_path_factory.mktemp("misbehaving")
    program = "tests.profiles.measure.misbehaving"
    with started(directory, workload=DOUBLING, variants=WAYS, program=program) as child:
        return heard_to_the_end(child)


@pytest.mark.parametrize("way", ["dies_when_tiny", "dies_when_large", "dies_after_some_calls"])
def test_a_variant_that_kills_its_process_fails_with_the_signal(misbehaving: Heard, way: str) -> None:
    run = misbehaving.runs[way]
    assert run.status is RunStatus.FAILED
    assert run.failure is not None
    assert run.failure.kind is FailureKind.CRASHED
    assert run.failure.message.startswith("the process was killed by SIGKILL")


def test_a_variant_that_raises_fails_with_the_error(misbehaving: Heard) -> None:
    run = misbehaving.runs["raises"]
    assert run.failure is not None
    assert (run.failure.kind, run.failure.message) == (FailureKind.CRASHED, "ZeroDivisionError: 2 by zero")


def test_a_wrong_variant_is_incorrect_and_never_timed(misbehaving: Heard) -> None:
    run = misbehaving.runs["is_wrong"]
    assert run.status is RunStatus.INCORRECT
    assert run.correctness is not None
    assert run.correctness.relative_l2 == pytest.approx(0.05)
    assert run.failure is not None
    assert run.failure.message == "relative error 0.05, tolerance 1.0e-6"
    assert run.metrics == ()
    phases = {event.phase for event in misbehaving.progress if event.variant == "is_wrong"}
    assert Phase.TIMED not in phases


def test_a_variant_that_gives_nan_is_incorrect(misbehaving: Heard) -> None:
    run = misbehaving.runs["gives_nan"]
    assert run.status is RunStatus.INCORRECT
    assert run.failure is not None
    assert run.failure.message == "NaN in 1 of 1 rows"


def test_the_well_behaved_variant_is_measured_whatever_the_others_do(misbehaving: Heard) -> None:
    assert misbehaving.code == 0
    assert set(misbehaving.runs) == set(WAYS)
    assert misbehaving.runs["well"].status is RunStatus.SUCCEEDED


def test_forks_die_with_the_first_process(tmp_path: Path) -> None:
    with started(tmp_path, plan=Plan(samples=10_000, budget_s=60.0)) as child:
        first_progress(child, Phase.TIMED)
        fork = child.forks[0]
        child.process.kill()
        child.process.wait()
        deadline = time.monotonic() + 5
        while Path(f"/proc/{fork}").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
    assert not Path(f"/proc/{fork}").exists()


def test_an_isolated_plan_measures_each_variant_in_its_own_process(tmp_path: Path) -> None:
    forks = []
    with started(tmp_path, variants=("naive", "sdpa_flash"), plan=isolated(QUICK)) as child:
        events = []
        for event in child.events:
            events.append(event)
            if isinstance(event, Progress) and event.phase is Phase.TIMED and event.done == 0.0:
                forks.append((event.variant, child.forks[0]))
        child.process.communicate(timeout=60)
    heard = Heard(events, child.process.returncode, "")
    assert {run.status for run in heard.runs.values()} == {RunStatus.SUCCEEDED}
    assert all(run.metric("first_call") is not None for run in heard.runs.values())
    assert len(set(forks)) == len({fork for _, fork in forks}) == 2


def test_a_compiled_variant_is_checked_timed_and_traced(tmp_path: Path) -> None:
    workload = Workload(operation="residual_rms_norm", axes={"rows": 64, "width": 64}, dtype=DType.FP32)
    variants = ("functional", "functional@compile")
    with started(tmp_path, workload=workload, variants=(*variants, "functional@cudagraph")) as child:
        heard = heard_to_the_end(child)
    assert {heard.runs[variant].status for variant in variants} == {RunStatus.SUCCEEDED}
    assert heard.finished["functional@compile"].trace_file == "functional_compile.json.gz"
    eager, compiled = (heard.runs[variant].metric("first_call") for variant in variants)
    assert eager is not None
    assert compiled is not None
    assert compiled.value > 10 * eager.value  # it compiles
    with gzip.open(tmp_path / "functional_compile.json.gz") as file:
        names = {event["name"] for event in json.load(file)["traceEvents"]}
    generated = [name for name in names if "cpp_fused" in name]
    assert generated
    _check_compilation(heard.runs["functional@compile"], tmp_path, generated)
    graphs = heard.runs["functional@cudagraph"].failure
    assert graphs is not None
    assert graphs.message == "CUDA graphs need a cuda device, this one is cpu"


def _check_compilation(run: Run, directory: Path, generated: list[str]) -> None:
    """Heard at the first call, confirmed by the session, left in the directory."""
    compilation = run.compilation
    assert compilation is not None
    assert (compilation.graphs, compilation.breaks, compilation.recompiles, compilation.limit_hit) == (1, (), (), False)
    (kernel,) = compilation.kernels
    assert all(name.endswith(kernel.name) for name in generated)
    assert "rsqrt" in kernel.operators
    assert compilation.stages_s["code"] > 0
    (receipt,) = run.dispatch
    assert (receipt.mechanism, receipt.ran, receipt.fell_back) == ("compile", "inductor", False)
    (artefact,) = run.artefacts
    assert kernel.name in (directory / artefact.sha256).read_text()


def test_what_takes_long_to_import_is_there_before_a_first_call(tmp_path: Path) -> None:
    """In every process, since the one that forks them has imported it: what it could not import is left out."""
    variants, program = ("tells_what_was_imported", "well"), "tests.profiles.measure.misbehaving"
    with started(tmp_path, workload=DOUBLING, variants=variants, program=program) as child:
        heard = heard_to_the_end(child)
    failure = heard.runs["tells_what_was_imported"].failure
    assert failure is not None
    assert failure.message == "RuntimeError: imported: True"
    assert heard.runs["well"].status is RunStatus.SUCCEEDED


def test_memory_that_does_not_suffice_fails_the_variant_that_wants_it(tmp_path: Path) -> None:
    """Scores of 2^18 × 2^18 need 256 GiB; a query of one row does not."""
    axes = {"batch": 1, "heads": 1, "kv_heads": 1, "seq_q": 1 << 18, "seq_kv": 1 << 18, "head_dim": 8, "causal": False}
    workload = Workload(operation="attention", axes=axes, dtype=DType.FP32)
    with started(tmp_path, workload=workload, variants=("naive",)) as child:
        heard = heard_to_the_end(child)
    failure = heard.runs["naive"].failure
    assert failure is not None
    assert failure.kind is FailureKind.OUT_OF_MEMORY
    assert heard.code == 0


def test_a_device_that_is_not_there_is_one_line_and_exit_2(tmp_path: Path) -> None:
    with started(tmp_path, device="cuda:63") as child:
        heard = heard_to_the_end(child)
    assert heard.code == 2
    assert heard.events == []
    assert heard.stderr.splitlines() == [heard.stderr.strip()]
    assert heard.stderr.startswith("cuda:63 is not available")


def test_without_torch_one_line_says_so(tmp_path: Path) -> None:
    """A package of that name, first on the path, stands for one that is not there."""
    blocked = tmp_path / "torch"
    blocked.mkdir()
    (blocked / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')\n")
    root = str(Path(__file__).parents[3])
    with started(tmp_path, PYTHONPATH=os.pathsep.join([str(tmp_path), root])) as child:
        heard = heard_to_the_end(child)
    assert (heard.code, heard.stderr) == (2, "package torch is not installed\n")


def test_a_variant_that_the_catalogue_lacks_is_one_line_and_exit_2(tmp_path: Path) -> None:
    with started(tmp_path, variants=("sdpa_flsh",)) as child:
        heard = heard_to_the_end(child)
    assert heard.code == 2
    assert "unknown implementation 'sdpa_flsh' of operation 'attention'" in heard.stderr
