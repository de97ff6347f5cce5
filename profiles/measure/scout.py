"""The first process of a trial: what machine this is, and which variants can run at all, by a tiny call of each."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from profiles.measure import loading
from profiles.measure.device import synchronise, take_device
from profiles.measure.environment import environment
from profiles.measure.failures import VariantError, code_of
from profiles.measure.forks import Spotlight
from profiles.measure.messages import Outbox, Passed
from profiles.measure.refusal import explained
from profiles.operations.implementation import parts
from profiles.protocol import Finished, MeasureSpec, Phase, Progress, Started
from profiles.variant import parse_variant


def scout(spec: MeasureSpec, variants: Iterable[str], *, spotlight: Spotlight, outbox: Outbox) -> None:
    """Say `Started` once the device answers; then `Passed` or `Finished` (refused, failed) for each variant."""
    device = take_device(spec.device)
    outbox.send(Started(environment=environment(device)))
    for variant in variants:
        spotlight.point_at(variant)
        try:
            _check(spec, variant, device=device, outbox=outbox)
        except VariantError as error:
            outbox.send(Finished(run=error.run))
        else:
            outbox.send(Passed(variant=variant))
    spotlight.clear()


@torch.no_grad()
def _check(spec: MeasureSpec, variant: str, *, device: torch.device, outbox: Outbox) -> None:
    """The tiny call keeps what decides eligibility. It is eager: what compiling would do shows in the first call."""
    outbox.send(Progress(variant=variant, phase=Phase.BUILD, done=0.0))
    with code_of(variant):
        module = loading.operation_module(spec.workload)
        name = parse_variant(variant).implementation
        function, context = parts(loading.implementation(spec.workload, name))
        inputs = module.inputs(module.tiny(spec.workload), device)
    outbox.send(Progress(variant=variant, phase=Phase.BUILD, done=1.0))
    outbox.send(Progress(variant=variant, phase=Phase.ELIGIBLE, done=0.0))
    try:
        with code_of(variant), context(inputs):
            function(inputs)
            synchronise(device)
    except VariantError as error:
        raise VariantError(explained(error.run, module, inputs)) from error
    outbox.send(Progress(variant=variant, phase=Phase.ELIGIBLE, done=1.0))
