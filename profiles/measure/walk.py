"""A walk: one axis, value by value, each visited twice in a process that this variant has to itself.

Plan caches (cuDNN's, a compiler's) belong to the process: variants that shared one would warm each other.
"""

from __future__ import annotations

import gc
import importlib
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import torch

from profiles.measure import loading
from profiles.measure.candidate import incorrect
from profiles.measure.correctness import check
from profiles.measure.device import take_device
from profiles.measure.failures import VariantError, code_of
from profiles.measure.forks import Spotlight
from profiles.measure.loading import OperationModule
from profiles.measure.messages import Outbox, Passed, Visiting
from profiles.measure.refusal import explained
from profiles.measure.reporter import EVERY_S
from profiles.measure.route import Route
from profiles.measure.subject import Subject, build
from profiles.measure.visit import visit_twice, warm_up
from profiles.measure.yardstick import yardstick
from profiles.protocol import Finished, MeasureSpec, Phase, Progress
from profiles.variant import parse_variant
from profiles.visits import Visit, Walked

Done = TypeVar("Done")


@torch.no_grad()
def walk(spec: MeasureSpec, variant: str, *, compile_caches: Path, spotlight: Spotlight, outbox: Outbox) -> None:
    """Say `Passed` with the visits, or `Finished` where one of them went wrong: with the value that it was at."""
    assert spec.plan.walk is not None, "only a plan with a walk has one"
    spotlight.point_at(variant)
    device = take_device(spec.device)
    route = Route(spec.workload, spec.plan.walk)
    try:
        visits = _visits(route, variant, device, compile_caches, outbox)
    except VariantError as error:
        outbox.send(Finished(run=error.run))
    else:
        outbox.send(Passed(variant=variant, walked=Walked(axis=route.axis, visits=visits)))
    spotlight.clear()


def _visits(
    route: Route, variant: str, device: torch.device, compile_caches: Path, outbox: Outbox
) -> tuple[Visit, ...]:
    """All values one after the other; only then are their outputs checked, so that no check stands between visits."""
    module = loading.operation_module(route.at(route.beside))
    say = _announcer(route, variant, outbox)
    with _naming(route.name(route.beside)):
        subject = _warm_subject(route, variant, module, device=device, compile_caches=compile_caches)
    gc.freeze()  # what is there by now stays; collections between visits look at the rest alone
    with recompiling(variant, 1 + len(route.values)):
        visits = _each(route.values, say, route, lambda value: _visit(route, value, subject, module, device))
        _each(_checked(route, module), say, route, lambda value: _check(route, value, subject, module))
    outbox.send(Progress(variant=variant, phase=Phase.VISITED, done=1.0, so_far=f"{len(route.values):,} visited"))
    return tuple(visits)


def _each(values: Iterable[int], say: Callable[[int], None], route: Route, work: Callable[[int], Done]) -> list[Done]:
    """Do `work` at each value, and say so before."""
    done = []
    for value in values:
        say(value)
        with _naming(route.name(value)):
            done.append(work(value))
    return done


def _checked(route: Route, module: OperationModule) -> Iterable[int]:
    """Libraries have been wrong at single shapes; of a whole model, whose float64 reference is dear, the two ends."""
    whole_model = module.tokens(route.at(route.values[0])) is not None
    return dict.fromkeys((route.values[0], route.values[-1])) if whole_model else route.values


def _announcer(route: Route, variant: str, outbox: Outbox) -> Callable[[int], None]:
    """Tells the first process each value, and people now and then."""
    last = float("-inf")

    def say(value: int) -> None:
        nonlocal last
        outbox.send(Visiting(variant=variant, where=route.name(value)))
        if time.monotonic() - last >= EVERY_S:
            last = time.monotonic()
            done = route.values.index(value) / len(route.values)
            outbox.send(Progress(variant=variant, phase=Phase.VISITED, done=done, so_far=route.whole(value)))

    return say


def _warm_subject(
    route: Route, variant: str, module: OperationModule, *, device: torch.device, compile_caches: Path
) -> Subject:
    """Called at a shape beside the walk: the library is loaded, the compiler is up, only the shapes will be new."""
    workload = route.at(route.beside)
    inputs: Any = None
    try:
        with code_of(variant):
            inputs = module.inputs(workload, device)
            subject = build(workload, variant, inputs, device=device, compile_caches=compile_caches)
            warm_up(subject, device)
    except VariantError as error:
        raise VariantError(explained(error.run, module, inputs)) from error
    return subject


def _visit(route: Route, value: int, subject: Subject, module: OperationModule, device: torch.device) -> Visit:
    inputs: Any = None
    try:
        with code_of(subject.variant):
            inputs = module.resized(subject.inputs, route.at(value))
            first_ns, second_ns = visit_twice(subject, inputs, device)
    except VariantError as error:
        raise VariantError(explained(error.run, module, inputs)) from error
    return Visit(value=value, first_ns=first_ns, second_ns=second_ns)


def _check(route: Route, value: int, subject: Subject, module: OperationModule) -> None:
    """VariantError where the output is not right."""
    workload = route.at(value)
    with code_of(subject.variant):
        there = subject.on(module.resized(subject.inputs, workload))
        measure = yardstick(module, workload, there.inputs)
        with there.context():
            found = check(there.call, measure)
    if not found.passed:
        raise VariantError(msgspec.structs.replace(incorrect(subject.variant, found), correctness=found))


@contextmanager
def _naming(where: str) -> Iterator[None]:
    """A failure inside says where on the walk it was."""
    try:
        yield
    except VariantError as error:
        failure = error.run.failure
        assert failure is not None, "a variant that has ended says why"
        named = msgspec.structs.replace(failure, message=f"at {where}: {failure.message}")
        raise VariantError(msgspec.structs.replace(error.run, failure=named)) from error


def recompiling(variant: str, times: int) -> AbstractContextManager[Any]:
    """Lets one function be compiled for that many shapes: torch gives up after 8, and runs eagerly or raises."""
    if not parse_variant(variant).execution.compiles:
        return nullcontext()
    dynamo: Any = importlib.import_module("torch._dynamo.config")  # private, and seconds of imports
    most = max(times, dynamo.recompile_limit)
    limits: AbstractContextManager[Any] = dynamo.patch(
        recompile_limit=most, accumulated_recompile_limit=max(most, dynamo.accumulated_recompile_limit)
    )
    return limits
