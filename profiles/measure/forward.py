"""`python -m profiles.measure.forward SPEC.json VARIANT`: one forward pass inside the CUDA profiler's range, for a tool
that profiles it from outside. Exits 0, or 2 with one line on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import torch

from profiles.lifeline import die_with
from profiles.measure import loading
from profiles.measure.device import DeviceError, synchronise, take_device
from profiles.measure.failures import VariantError, code_of
from profiles.measure.subject import build
from profiles.protocol import MeasureSpec

WARM_UP_CALLS = 3  # compiled variants record their graphs in the second


def main(arguments: list[str]) -> int:
    path, variant = arguments
    die_with(os.getppid())
    spec = msgspec.json.decode(Path(path).read_bytes(), type=MeasureSpec)
    try:
        with code_of(variant):
            _forward(spec, variant)
    except (VariantError, DeviceError) as error:
        print(str(error), file=sys.stderr)
        return 2
    return 0


@torch.no_grad()
def _forward(spec: MeasureSpec, variant: str) -> None:
    """The variant's code, compiled in this trial before, is found in its cache."""
    device = take_device(spec.device)
    inputs = loading.operation_module(spec.workload).inputs(spec.workload, device)
    caches = Path(spec.directory) / "compiled"
    subject = build(spec.workload, variant, inputs, device=device, compile_caches=caches)
    with subject.context():
        for _ in range(WARM_UP_CALLS):
            subject.call()
        synchronise(device)
        with _profiled(device):
            subject.call()
            synchronise(device)


@contextmanager
def _profiled(device: torch.device) -> Iterator[None]:
    """The range that `--profile-from-start off` waits for; a CPU has none."""
    if device.type != "cuda":
        yield
        return
    cuda: Any = torch.cuda  # whose functions here have no types
    runtime = cuda.cudart()
    runtime.cudaProfilerStart()
    try:
        yield
    finally:
        runtime.cudaProfilerStop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
