"""On a GPU: a script's times are those that Fusescope measured, and every kind of execution runs alone."""

from __future__ import annotations

import importlib.util
import re
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
import torch

from profiles.comparison.entry import MeasuredEntry
from profiles.plan import CachePolicy
from profiles.reproduce.script import reproducer
from profiles.results import RunStatus
from profiles.workload import DType, Workload
from tests.profiles.measure.child import QUICK, heard_to_the_end, started
from tests.profiles.reproduce.alone import H200, OURS, entry, ran

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"),
]
ATTENTION = Workload(
    operation="attention",
    axes={"batch": 8, "heads": 16, "kv_heads": 16, "seq_q": 1024, "seq_kv": 1024, "head_dim": 64, "causal": True},
    dtype=DType.BF16,
)
NORM = Workload(operation="residual_rms_norm", axes={"rows": 8192, "width": 2048}, dtype=DType.BF16)
SWIGLU = Workload(operation="swiglu", axes={"rows": 1024, "width": 1024, "hidden": 2816}, dtype=DType.BF16)
DECODER = Workload(operation="decoder_prefill", axes={"model": "tiny", "batch": 1, "seq": 64}, dtype=DType.BF16)
TIMES = re.compile(r"^gpu_time +(?P<here>[\d,.]+) (?P<unit>µs|ms) ", re.MULTILINE)
ANYWHERE = "-P"  # torch may lie where only its user's Python looks
NS = {"µs": 1e3, "ms": 1e6}


def measured(folder: Path, workload: Workload, *variants: str) -> list[MeasuredEntry]:
    with started(folder, workload=workload, variants=variants, plan=QUICK, device="cuda:0") as child:
        heard = heard_to_the_end(child)
    environment = heard.environments[0].environment
    return [
        MeasuredEntry(key="A", variant=v, run=run, workload=workload, plan=QUICK, environment=environment)
        for v, run in heard.runs.items()
    ]


def gpu_ns(made: MeasuredEntry, folder: Path) -> float:
    """The script's own median, of a run that it found correct."""
    told = ran(reproducer(made).text, folder, absent=OURS, python=ANYWHERE)
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("correct: ")
    found = TIMES.search(told.stdout)
    assert found is not None, told.stdout
    return float(found["here"].replace(",", "")) * NS[found["unit"]]


@pytest.mark.parametrize(
    ("workload", "variants"), [(ATTENTION, ("naive", "sdpa_flash")), (NORM, ("functional", "functional@compile"))]
)
def test_a_script_finds_the_time_that_was_measured(
    workload: Workload, variants: tuple[str, ...], tmp_path: Path
) -> None:
    entries = measured(tmp_path, workload, *variants)
    assert {made.variant for made in entries} == set(variants)
    for made in entries:
        assert made.run.status is RunStatus.SUCCEEDED, made.run.failure
        metric = made.run.metric("gpu_time")
        assert metric is not None
        assert gpu_ns(made, tmp_path) == pytest.approx(metric.value, rel=0.1), made.variant


ALONE = {
    "efficient": (ATTENTION, "sdpa_efficient", CachePolicy.COLD),
    "cuDNN": (ATTENTION, "sdpa_cudnn", CachePolicy.WARM),
    "torch's graphs": (NORM, "unfused@compile-reduce-overhead", CachePolicy.COLD),
    "a captured norm": (NORM, "functional@cudagraph", CachePolicy.COLD),
    "in context": (SWIGLU, "unfused", CachePolicy.IN_CONTEXT),
    "captured in context": (SWIGLU, "unfused@cudagraph", CachePolicy.IN_CONTEXT),
    "a model": (DECODER, "sdpa", CachePolicy.WARM),
}


@pytest.fixture(scope="module")
def started_alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Future[float]]:
    """All at once: each takes seconds to start, and that they run does not depend on how busy the GPU is."""

    def run(name: str) -> float:
        workload, variant, cache = ALONE[name]
        made = entry(workload.operation, variant, workload=workload, environment=H200, cache=cache)
        return gpu_ns(made, folders[name])

    folders = {name: tmp_path_factory.mktemp("alone") for name in ALONE}
    with ThreadPoolExecutor(len(ALONE)) as pool:
        return {name: pool.submit(run, name) for name in ALONE}


@pytest.mark.parametrize("name", ALONE)
def test_a_script_of_any_execution_and_cache_policy_runs_alone(
    name: str, started_alone: dict[str, Future[float]]
) -> None:
    if ALONE[name][0] is DECODER and importlib.util.find_spec("transformers") is None:
        pytest.skip("needs transformers")
    assert 1e3 < started_alone[name].result() < 1e9


def test_a_wrong_output_is_called_incorrect_and_not_timed(tmp_path: Path) -> None:
    made = entry(workload=msgspec.structs.replace(ATTENTION, seed=1), environment=H200)
    text = reproducer(made).text.replace("return scores * a.scale", "return scores * a.scale * 1.1")
    told = ran(text, tmp_path, absent=OURS, python=ANYWHERE)
    assert told.returncode == 1
    assert told.stdout.startswith("INCORRECT: ")
    assert "gpu_time" not in told.stdout
