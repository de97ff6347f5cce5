"""What a person submits: workloads × variants, a plan, a device class. Checked here, before anything is stored."""

from __future__ import annotations

import re

import msgspec

from profiles import catalog
from profiles.plan import Plan, Walk
from profiles.workload import Workload

MOST_TRIALS = 256
MOST_VISITS = 4096  # of one variant's walk
DEVICE_PATTERN = re.compile(r"cpu|cuda(:\d+)?")


class JobError(ValueError):
    """A request that cannot become a job; the message says what is accepted."""


class TrialRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One workload with the variants to measure on it, as their operation writes them (`unfused@compile`)."""

    workload: Workload
    variants: tuple[str, ...]


class JobRequest(msgspec.Struct, frozen=True, kw_only=True):
    """`device` is a device class: `cpu`, `cuda` (any GPU) or `cuda:N` (that one)."""

    name: str
    device: str
    trials: tuple[TrialRequest, ...]
    plan: Plan = Plan()
    preset: str | None = None


def check_job(request: JobRequest) -> None:
    """JobError where the request could not be measured anywhere."""
    if not request.name.strip():
        raise JobError("the job has no name")
    if not DEVICE_PATTERN.fullmatch(request.device):
        raise JobError(f"unknown device class {request.device!r}; expected 'cpu', 'cuda' or 'cuda:N'")
    if not 1 <= len(request.trials) <= MOST_TRIALS:
        raise JobError(f"the job has {len(request.trials)} trials; accepted are 1 to {MOST_TRIALS}")
    for trial in request.trials:
        _check_trial(trial)
        if request.plan.walk is not None:
            check_walk(request.plan.walk, trial.workload)


def _check_trial(trial: TrialRequest) -> None:
    try:
        catalog.check_workload(trial.workload)
        operation = catalog.operation(trial.workload.operation)
        named = [str(catalog.check_variant(operation, text)) for text in trial.variants]
    except catalog.CatalogError as error:
        raise JobError(str(error)) from error
    if not named:
        raise JobError(f"no variant of {operation.name} is chosen")
    for variant in named:
        if named.count(variant) > 1:
            raise JobError(f"variant {variant!r} is named more than once")


def check_walk(walk: Walk, workload: Workload) -> None:
    """JobError where a value of the walk is no workload of this operation."""
    operation = catalog.operation(workload.operation)
    numbers = [axis.name for axis in operation.axes if type(axis.default) is int]
    if walk.axis not in numbers:
        accepted = ", ".join(map(repr, numbers))
        raise JobError(f"the walk's axis is {walk.axis!r}; {operation.name} can walk one of {accepted}")
    first = int(workload.axes[walk.axis])
    if walk.last < first:
        raise JobError(f"the walk's last {walk.axis} is {walk.last}, before its first, {first}")
    values = walk.values(first)
    if len(values) > MOST_VISITS:
        raise JobError(f"the walk visits {len(values):,} values of {walk.axis}; accepted are at most {MOST_VISITS:,}")
    for value in values:
        try:
            catalog.check_workload(catalog.at(workload, walk.axis, value))
        except catalog.CatalogError as error:
            raise JobError(f"the walk at {walk.axis} {value}: {error}") from error
