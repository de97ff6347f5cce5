"""On a GPU: what each new KV length costs in decoding, by backend, in processes of their own."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

import msgspec
import pytest
import torch

from profiles.operations.sdpa_backends import Backend, Question, priority
from profiles.plan import Walk
from profiles.results import Run, RunStatus
from profiles.workload import DType, Workload
from tests.profiles.measure.child import QUICK, heard_to_the_end, started

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"),
]

VARIANTS = ("sdpa_auto", "sdpa_flash")
FIRST, LAST = 512, 519
DECODE = Workload(
    operation="attention",
    axes={
        "batch": 8,
        "heads": 12,
        "kv_heads": 12,
        "seq_q": 1,
        "seq_kv": FIRST,
        "head_dim": 128,
        "causal": False,
    },
    dtype=DType.BF16,
)


def _skip_unless_auto_takes_cudnn() -> None:
    query, key = (torch.randn(8, 12, rows, 128, device="cuda", dtype=torch.bfloat16) for rows in (1, FIRST))
    order = priority(Question(query, key, key, causal=False, grouped=False))
    if order is None:
        pytest.skip("this torch does not tell its order of attention backends")
    if order[0] != Backend.CUDNN:
        pytest.skip(f"the order of attention backends is {', '.join(order)} here: cuDNN is not the first")


def _walked() -> dict[str, Run]:
    plan = msgspec.structs.replace(QUICK, walk=Walk(axis="seq_kv", last=LAST))
    with (
        tempfile.TemporaryDirectory() as directory,
        started(Path(directory), workload=DECODE, variants=VARIANTS, plan=plan, device="cuda:0") as child,
    ):
        return heard_to_the_end(child).runs


def _median_ms(run: Run, which: str) -> float:
    assert run.visits is not None
    return statistics.median(getattr(visit, which) for visit in run.visits.visits) / 1e6


def _value(run: Run, name: str) -> float:
    metric = run.metric(name)
    assert metric is not None, run.notes
    return metric.value


def test_the_automatic_choice_pays_at_each_new_length_and_flash_does_not() -> None:
    _skip_unless_auto_takes_cudnn()
    runs = _walked()
    auto, flash = (runs[variant] for variant in VARIANTS)
    for run in (auto, flash):
        assert run.status is RunStatus.SUCCEEDED, run.failure
        assert run.visits is not None
        assert [visit.value for visit in run.visits.visits] == list(range(FIRST, LAST + 1))
    medians = {run.variant: (_median_ms(run, "first_ns"), _median_ms(run, "second_ns")) for run in (auto, flash)}
    assert medians["sdpa_auto"][0] >= 5 * medians["sdpa_flash"][0], medians
    assert medians["sdpa_auto"][0] >= 5 * medians["sdpa_auto"][1], medians
    # The neighbour that every variant visits tells the same of a fixed shape.
    assert _value(auto, "first_shape") >= 5 * _value(flash, "first_shape")
    assert _value(auto, "second_visit") < _value(auto, "first_shape") / 5
