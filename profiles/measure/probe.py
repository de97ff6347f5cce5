"""The first call of a variant in a fresh process: with the device ready and the inputs on it, nothing else done.

Then, in the same process, warm by now, the first visit to a neighbouring shape.
"""

from __future__ import annotations

from pathlib import Path

import torch

from profiles.measure import loading
from profiles.measure.compile_report import after_first_call
from profiles.measure.device import take_device
from profiles.measure.failures import VariantError, code_of
from profiles.measure.forks import Spotlight
from profiles.measure.loading import OperationModule
from profiles.measure.messages import Outbox, Passed
from profiles.measure.refusal import explained
from profiles.measure.subject import Subject, build
from profiles.measure.visit import time_visit, visit_new_shape
from profiles.protocol import Finished, MeasureSpec, Phase, Progress


@torch.no_grad()
def probe(spec: MeasureSpec, variant: str, *, compile_caches: Path, spotlight: Spotlight, outbox: Outbox) -> None:
    """Say `Passed` with the time, then `NewShape`; or `Finished` where the variant does not get that far."""
    spotlight.point_at(variant)
    outbox.send(Progress(variant=variant, phase=Phase.FIRST_CALL, done=0.0))
    device = take_device(spec.device)
    try:
        with code_of(variant):
            module = loading.operation_module(spec.workload)
            inputs = module.inputs(spec.workload, device)
            subject = build(spec.workload, variant, inputs, device=device, compile_caches=compile_caches)
        first_call_ns = _first_call(subject, module, device)
    except VariantError as error:
        outbox.send(Finished(run=error.run))
    else:
        outbox.send(
            Progress(variant=variant, phase=Phase.FIRST_CALL, done=1.0, so_far=f"{first_call_ns / 1e6:,.1f} ms")
        )
        compiled = after_first_call(subject, Path(spec.directory))
        outbox.send(Passed(variant=variant, first_call_ns=first_call_ns, compiled=compiled))
        outbox.send(visit_new_shape(subject, module, spec.workload, device=device, first_call_ns=first_call_ns))
    spotlight.clear()


def _first_call(subject: Subject, module: OperationModule, device: torch.device) -> int:
    try:
        with code_of(subject.variant):
            return time_visit(subject, device)
    except VariantError as error:
        raise VariantError(explained(error.run, module, subject.inputs)) from error
