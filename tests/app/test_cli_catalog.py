"""Availability as the catalogue command tells it, for machines that this one is not."""

from __future__ import annotations

from app.commands.catalog import catalogue_for
from profiles.reports import CatalogueImplementation
from profiles.worker import Capabilities


def machine(device: str, *, torch: str | None = "2.13.0", compiler: bool = True, **packages: str) -> Capabilities:
    return Capabilities(
        device=device,
        device_name="A device",
        memory_bytes=None,
        host="host",
        torch=torch,
        packages=packages,
        compiler=compiler,
    )


def implementation(name: str, operation: str, *devices: Capabilities) -> CatalogueImplementation:
    found = next(o for o in catalogue_for(devices).operations if o.name == operation)
    return next(one for one in found.implementations if one.name == name)


def test_a_gpu_makes_the_half_precision_backend_available() -> None:
    cudnn = implementation("sdpa_cudnn", "attention", machine("cuda:0"), machine("cpu"))
    assert (cudnn.available, cudnn.reason) == (True, None)


def test_the_reason_of_a_backend_names_what_it_needs() -> None:
    cudnn = implementation("sdpa_cudnn", "attention", machine("cpu"))
    assert (cudnn.available, cudnn.reason) == (False, "needs a cuda device, this worker has cpu")


def test_nothing_is_available_without_torch() -> None:
    catalogue = catalogue_for([machine("cpu", torch=None)])
    told = {one.reason for operation in catalogue.operations for one in operation.implementations}
    assert told == {"torch is not installed on this worker"}


def test_an_execution_that_cannot_run_is_refused_beside_one_that_can() -> None:
    unfused = implementation("unfused", "swiglu", machine("cpu", compiler=False))
    assert (unfused.available, unfused.reason) == (True, None)
    assert unfused.refused_executions["compile"] == "needs a C++ compiler, none is on this worker"
    assert "eager" not in unfused.refused_executions


def test_cuda_graphs_are_refused_where_there_is_no_cuda_device() -> None:
    unfused = implementation("unfused", "swiglu", machine("cpu"))
    reason = "CUDA graphs need a cuda device, this worker has cpu"
    assert unfused.refused_executions == {"compile-reduce-overhead": reason, "cudagraph": reason}
    assert implementation("unfused", "swiglu", machine("cuda:0", triton="3.6")).refused_executions == {}


def test_a_missing_package_is_named() -> None:
    eager = implementation("eager", "decoder_prefill", machine("cpu"))
    assert eager.reason == "package transformers is not installed on this worker"
    assert implementation("eager", "decoder_prefill", machine("cpu", transformers="5.24")).available
