"""The first call of a variant in a fresh process: with the device ready and the inputs on it, nothing else done."""

from __future__ import annotations

import time
from pathlib import Path

import torch

from profiles.measure import loading
from profiles.measure.device import synchronise, take_device
from profiles.measure.failures import VariantError, code_of
from profiles.measure.forks import Spotlight
from profiles.measure.messages import Outbox, Passed
from profiles.measure.refusal import explained
from profiles.measure.subject import Subject, build
from profiles.protocol import Finished, MeasureSpec, Phase, Progress
from profiles.workload import Workload


def probe(spec: MeasureSpec, variant: str, *, compile_caches: Path, spotlight: Spotlight, outbox: Outbox) -> None:
    """Say `Passed` with the time, or `Finished` where the variant does not get that far."""
    spotlight.point_at(variant)
    outbox.send(Progress(variant=variant, phase=Phase.FIRST_CALL, done=0.0))
    device = take_device(spec.device)
    try:
        first_call_ns = _first_call(spec.workload, variant, device=device, compile_caches=compile_caches)
    except VariantError as error:
        outbox.send(Finished(run=error.run))
    else:
        outbox.send(
            Progress(variant=variant, phase=Phase.FIRST_CALL, done=1.0, so_far=f"{first_call_ns / 1e6:,.1f} ms")
        )
        outbox.send(Passed(variant=variant, first_call_ns=first_call_ns))
    spotlight.clear()


@torch.no_grad()
def _first_call(workload: Workload, variant: str, *, device: torch.device, compile_caches: Path) -> int:
    with code_of(variant):
        module = loading.operation_module(workload)
        inputs = module.inputs(workload, device)
        subject = build(workload, variant, inputs, device=device, compile_caches=compile_caches)
    try:
        with code_of(variant):
            return time_first_call(subject, device)
    except VariantError as error:
        raise VariantError(explained(error.run, module, inputs)) from error


def time_first_call(subject: Subject, device: torch.device) -> int:
    """From the call until the device has done it, in ns: kernels loaded, code compiled, plans found on the way."""
    with subject.context():
        synchronise(device)
        start = time.perf_counter_ns()
        subject.call()
        synchronise(device)
        return time.perf_counter_ns() - start
