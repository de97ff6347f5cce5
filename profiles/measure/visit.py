"""Visits to a shape: what its first call costs in a process, and what the next one does."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch

from profiles.measure.device import synchronise
from profiles.measure.failures import VariantError, code_of
from profiles.measure.loading import OperationModule
from profiles.measure.messages import NewShape
from profiles.measure.subject import Subject
from profiles.workload import Workload

WARM_CALLS = 3
WARM_S = 1.0
DEAREST_FIRST_CALL_S = 20.0


def time_visit(subject: Subject, device: torch.device) -> int:
    """From the call until the device has done it, in ns: kernels loaded, code compiled, plans found on the way."""
    with subject.context():
        synchronise(device)
        with _no_collection():
            start = time.perf_counter_ns()
            subject.call()
            synchronise(device)
            return time.perf_counter_ns() - start


def visit_twice(subject: Subject, inputs: Any, device: torch.device) -> tuple[int, int]:
    """The same code with other inputs: the first call and the second, in ns.

    What is compiled for them is not the variant's own compilation: nobody listens.
    """
    there = replace(subject.on(inputs), watch=None)
    return time_visit(there, device), time_visit(there, device)


def visit_new_shape(
    subject: Subject, module: OperationModule, workload: Workload, *, device: torch.device, first_call_ns: int
) -> NewShape:
    """The neighbouring shape, in the process that has made the first call; whatever goes wrong there is a note.

    A variant whose first call took long is spared what may be as long a compilation.
    """
    if first_call_ns > DEAREST_FIRST_CALL_S * 1e9:
        reason = f"the first call took {first_call_ns / 1e9:.0f} s, over {DEAREST_FIRST_CALL_S:.0f} s"
        return NewShape(variant=subject.variant, note=f"no new shape was visited: {reason}")
    try:
        with code_of(subject.variant):
            warm_up(subject, device)
            first_ns, second_ns = visit_twice(
                subject, module.resized(subject.inputs, module.neighbour(workload)), device
            )
    except VariantError as error:
        return NewShape(variant=subject.variant, note=f"no new shape was visited: {error}")
    finally:
        _give_back(device)
    return NewShape(variant=subject.variant, first_ns=first_ns, second_ns=second_ns)


def warm_up(subject: Subject, device: torch.device) -> None:
    """A few calls, or a second's worth: what is new afterwards is the shape alone."""
    spent_ns = 0
    for _ in range(WARM_CALLS):
        if spent_ns < WARM_S * 1e9:
            spent_ns += time_visit(subject, device)


def _give_back(device: torch.device) -> None:
    """What the neighbour's tensors held, so that nothing after them sees it."""
    if device.type == "cuda":
        torch.cuda.empty_cache()


@contextmanager
def _no_collection() -> Iterator[None]:
    """Python's garbage waits: one collection takes longer than a thousand warm calls."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
