"""On a GPU: the kernels of a replayed graph get operator, stage, module and line from the run's uncaptured pass."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from profiles.results import KernelUse, Role
from profiles.trace.forward import ForwardSummary, per_forward
from profiles.trace.read import read_trace
from profiles.workload import DType, Workload
from tests.profiles.measure.child import QUICK, Heard, heard_to_the_end, started

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"),
]

CUDA = "cuda:0"
ATTENTION = Workload(
    operation="attention",
    axes={"batch": 1, "heads": 4, "kv_heads": 4, "seq_q": 256, "seq_kv": 256, "head_dim": 64, "causal": True},
    dtype=DType.BF16,
)
NORM = Workload(operation="residual_rms_norm", axes={"rows": 128, "width": 256}, dtype=DType.BF16)
SWIGLU = Workload(operation="swiglu", axes={"rows": 128, "width": 256, "hidden": 512}, dtype=DType.BF16)
DECODER = Workload(operation="decoder_prefill", axes={"model": "tiny", "batch": 1, "seq": 32}, dtype=DType.BF16)


def measured(workload: Workload, variants: tuple[str, ...], directory: Path) -> Heard:
    with started(directory, workload=workload, variants=variants, plan=QUICK, device=CUDA) as child:
        heard = heard_to_the_end(child)
    assert set(heard.runs) == set(variants), heard.stderr
    for run in heard.runs.values():
        assert run.failure is None, run.failure
        assert not [note for note in run.notes if "uncaptured" in note]
    return heard


def forward_of(heard: Heard, variant: str, directory: Path) -> ForwardSummary:
    file = heard.finished[variant].trace_file
    assert file is not None
    return per_forward(read_trace(directory / file), device=CUDA)


def kernels(forward: ForwardSummary) -> list[KernelUse]:
    return [use for use in forward.kernels if use.role not in {Role.COPY, Role.FILL}]


@pytest.mark.parametrize(("workload", "variant"), [(NORM, "unfused"), (SWIGLU, "unfused")])
def test_a_replays_kernels_have_the_operators_and_stages_of_the_eager_ones(
    workload: Workload, variant: str, tmp_path: Path
) -> None:
    variants = (variant, f"{variant}@cudagraph")
    heard = measured(workload, variants, tmp_path)
    eager, replayed = (forward_of(heard, name, tmp_path) for name in variants)
    assert (replayed.counts.launches, replayed.counts.graph_launches) == (0, 1)
    assert {use.name for use in kernels(replayed)} == {use.name for use in kernels(eager)}
    assert {(use.name, use.stages) for use in kernels(replayed)} == {(use.name, use.stages) for use in kernels(eager)}
    assert all(use.stages for use in kernels(replayed))
    operators = {use.name: cause.operators for use, cause in zip(eager.kernels, eager.causes, strict=True)}
    for use, cause in zip(replayed.kernels, replayed.causes, strict=True):
        if use in kernels(replayed):
            assert cause.inferred
            assert cause.operators == operators[use.name] != ()
            assert "Graph" in cause.launch_calls[0]
            assert cause.sources[0].startswith(f"profiles/operations/{workload.operation}.py(")
    assert replayed.recorded is not None
    assert replayed.recorded.kernels.by_graph > 0


def test_kernels_that_were_launched_one_by_one_keep_their_own_operators(tmp_path: Path) -> None:
    heard = measured(ATTENTION, ("naive",), tmp_path)
    eager = forward_of(heard, "naive", tmp_path)
    told = [cause for use, cause in zip(eager.kernels, eager.causes, strict=True) if use in kernels(eager)]
    assert told
    assert all(cause.operators for cause in told)
    assert all(cause.sources[0].startswith("profiles/operations/attention.py(") for cause in told)
    assert all(cause.launch_calls and "Graph" not in cause.launch_calls[0] for cause in told)


def test_the_kernels_of_torchs_own_graphs_have_the_operators_of_the_compiled_code(tmp_path: Path) -> None:
    heard = measured(SWIGLU, ("unfused", "unfused@compile-reduce-overhead"), tmp_path)
    replayed = forward_of(heard, "unfused@compile-reduce-overhead", tmp_path)
    assert replayed.counts.graph_launches == 1
    inferred = [cause for cause in replayed.causes if cause.inferred]
    assert inferred
    assert all(cause.operators for cause in inferred)
    by_graph = [use for use, cause in zip(replayed.kernels, replayed.causes, strict=True) if cause.inferred]
    assert any(use.role is Role.GEMM for use in by_graph)


@pytest.mark.parametrize("variant", ["eager", "sdpa"])
def test_a_decoders_kernels_have_their_modules_by_name(variant: str, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    heard = measured(DECODER, (variant,), tmp_path)
    found = forward_of(heard, variant, tmp_path)
    modules = {module for cause in found.causes for module in cause.modules}
    assert any(".layers.0.mlp" in module for module in modules)
    assert any("modeling_" in source for cause in found.causes for source in cause.sources)
