"""What a worker can do, and so which variants it can run: facts in, a reason out. No torch here."""

from __future__ import annotations

import msgspec

from profiles import catalog
from profiles.variant import Execution, Variant
from profiles.workload import Workload


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """`device` is `cpu` or `cuda:N`. `packages` maps the names of installed packages that matter to their versions."""

    device: str
    device_name: str
    memory_bytes: int | None
    host: str
    torch: str | None
    packages: dict[str, str]
    compiler: bool


def why_not(variant: Variant, workload: Workload, worker: Capabilities) -> str | None:
    """Why this worker will refuse the variant, or None where it should run.

    A forecast for people; the child's eligibility check, on the device, has the last word.
    """
    kind = worker.device.partition(":")[0]
    if worker.torch is None:
        return "torch is not installed on this worker"
    needs = catalog.operation(workload.operation).implementation(variant.implementation).needs
    return _unmet(needs, kind=kind, workload=workload, worker=worker) or _cannot_execute(
        variant.execution, kind=kind, worker=worker
    )


def _cannot_execute(execution: Execution, *, kind: str, worker: Capabilities) -> str | None:
    if execution.needs_graphs and kind != "cuda":
        return f"CUDA graphs need a cuda device, this worker has {kind}"
    return _no_compiler(kind, worker) if execution.compiles else None


def _unmet(needs: catalog.Needs, *, kind: str, workload: Workload, worker: Capabilities) -> str | None:
    if needs.device is not None and kind != needs.device:
        return f"needs a {needs.device} device, this worker has {kind}"
    if workload.dtype not in needs.dtypes:
        return f"needs {' or '.join(needs.dtypes)}, the workload is {workload.dtype}"
    missing = next((package for package in needs.packages if package not in worker.packages), None)
    return None if missing is None else f"package {missing} is not installed on this worker"


def _no_compiler(kind: str, worker: Capabilities) -> str | None:
    if kind == "cpu" and not worker.compiler:
        return "needs a C++ compiler, none is on this worker"
    if kind == "cuda" and "triton" not in worker.packages:
        return "package triton is not installed on this worker"
    return None
