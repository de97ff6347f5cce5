"""What devices there are to measure on, as the workers announced them."""

from __future__ import annotations

from collections.abc import Sequence

from db.views import WorkerView
from profiles.variant import Variant
from profiles.worker import why_not
from profiles.workload import Workload

NO_WORKER = "no worker"


def alive(workers: Sequence[WorkerView]) -> tuple[WorkerView, ...]:
    return tuple(worker for worker in workers if worker.alive)


def kind(device: str) -> str:
    """`cuda` of `cuda:1`."""
    return device.partition(":")[0]


def preferred_device(workers: Sequence[WorkerView]) -> str:
    """The device class that a job goes to unless its author says otherwise: a GPU where one answers."""
    kinds = {kind(worker.capabilities.device) for worker in alive(workers)}
    return "cuda" if "cuda" in kinds else "cpu"


def taking(workers: Sequence[WorkerView], device: str) -> tuple[WorkerView, ...]:
    """The workers that answer and take jobs of this device class."""
    return tuple(w for w in alive(workers) if device in (w.capabilities.device, kind(w.capabilities.device)))


def refusals(variant: Variant, workload: Workload, workers: Sequence[WorkerView]) -> str | None:
    """Why these workers will refuse the variant; None where one of them will run it."""
    if not workers:
        return NO_WORKER
    reasons = [why_not(variant, workload, worker.capabilities) for worker in workers]
    return None if None in reasons else reasons[0]


def offered(workers: Sequence[WorkerView]) -> tuple[str, ...]:
    """The device classes to choose from: any GPU first, each GPU where there are several, the processor."""
    devices = sorted({worker.capabilities.device for worker in alive(workers)})
    gpus = [device for device in devices if kind(device) == "cuda"]
    several = gpus if len(gpus) > 1 else []
    found = (*(["cuda"] if gpus else []), *several, *(["cpu"] if "cpu" in devices else []))
    return found or ("cpu", "cuda")


def label(device: str, workers: Sequence[WorkerView]) -> str:
    """`NVIDIA H200 · gpu-07`, or what is missing."""
    takers = taking(workers, device)
    if not takers:
        return f"{device} · no worker answers"
    names = list(dict.fromkeys(worker.capabilities.device_name for worker in takers))
    hosts = list(dict.fromkeys(worker.capabilities.host for worker in takers))
    where = hosts[0] if len(hosts) == 1 else f"{len(hosts)} hosts"
    many = f" · any of {len(takers)}" if len(takers) > 1 else ""
    return f"{names[0] if len(names) == 1 else 'several models'} · {where}{many}"


def short_name(device: str, workers: Sequence[WorkerView]) -> str:
    takers = taking(workers, device)
    return "the CPU" if kind(device) == "cpu" else takers[0].capabilities.device_name if takers else "a GPU"
