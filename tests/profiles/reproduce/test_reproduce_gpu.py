"""On a GPU: a script's times are those that Fusescope measured, and every kind of execution runs alone."""

from __future__ import annotations

import importlib.util
import re
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


@pytest.mark.parametrize(
    ("workload", "variant", "cache"),
    [
        (ATTENTION, "sdpa_efficient", CachePolicy.COLD),
        (ATTENTION, "sdpa_cudnn", CachePolicy.WARM),
        (NORM, "unfused@compile-reduce-overhead", CachePolicy.COLD),
        (NORM, "functional@cudagraph", CachePolicy.COLD),
        (SWIGLU, "unfused", CachePolicy.IN_CONTEXT),
        (SWIGLU, "unfused@cudagraph", CachePolicy.IN_CONTEXT),
        (DECODER, "sdpa", CachePolicy.WARM),
    ],
)
def test_a_script_of_any_execution_and_cache_policy_runs_alone(
    workload: Workload, variant: str, cache: CachePolicy, tmp_path: Path
) -> None:
    if workload is DECODER and importlib.util.find_spec("transformers") is None:
        pytest.skip("needs transformers")
    made = entry(workload.operation, variant, workload=workload, environment=H200, cache=cache)
    assert 1e3 < gpu_ns(made, tmp_path) < 1e9


def test_a_wrong_output_is_called_incorrect_and_not_timed(tmp_path: Path) -> None:
    made = entry(workload=msgspec.structs.replace(ATTENTION, seed=1), environment=H200)
    text = reproducer(made).text.replace("return scores * a.scale", "return scores * a.scale * 1.1")
    told = ran(text, tmp_path, absent=OURS, python=ANYWHERE)
    assert told.returncode == 1
    assert told.stdout.startswith("INCORRECT: ")
    assert "gpu_time" not in told.stdout
