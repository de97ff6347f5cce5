"""A job as it stands in the form: parts of text, turned into a request or into reasons why it is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from math import prod

from app.forms import sweep
from profiles import catalog, presets
from profiles.job import MOST_TRIALS, JobError, JobRequest, TrialRequest, check_job
from profiles.plan import CachePolicy, Plan
from profiles.workload import AxisValue, DType, Workload

OWN = "own"

# An axis left empty is as large as this one: changing a length changes both.
FOLLOWS = catalog.FOLLOWS


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One operation of a draft: the text of each axis, the dtype, the variants' names."""

    operation: str
    axes: Mapping[str, str]
    dtype: DType
    variants: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    name: str
    device: str
    parts: tuple[Part, ...]
    plan: Plan
    preset: str | None


def preset_parts(name: str, *, device: str) -> tuple[Part, ...]:
    """The parts that preset `name` starts with on this kind of device."""
    return tuple(
        Part(
            operation=trial.workload.operation,
            axes=axis_texts(trial.workload),
            dtype=trial.workload.dtype,
            variants=trial.variants,
        )
        for trial in presets.request(name, device=device).trials
    )


def own_part(operation: str, *, device: str) -> Part:
    """An operation with its default axes, its usual variants chosen."""
    known = catalog.operation(operation)
    axes = {axis.name: axis.default for axis in known.axes}
    dtype = DType.FP32 if device.startswith("cpu") or DType.BF16 not in known.dtypes else DType.BF16
    return Part(
        operation=operation,
        axes=axis_texts(Workload(operation=operation, axes=axes, dtype=dtype)),
        dtype=dtype,
        variants=tuple(str(variant) for variant in catalog.usual_variants(known)),
    )


def own_plan(*, device: str) -> Plan:
    return Plan(cache=CachePolicy.WARM if device.startswith("cpu") else CachePolicy.COLD, budget_s=30.0)


def axis_texts(workload: Workload) -> dict[str, str]:
    """The text of each axis; empty where it follows another."""
    return {
        name: "" if name in FOLLOWS and workload.axes.get(FOLLOWS[name]) == value else sweep.written((value,))
        for name, value in workload.axes.items()
    }


def request(draft: Draft) -> JobRequest:
    """What the draft asks for; JobError or SweepError where it cannot become a job."""
    trials = [trial for part in draft.parts for trial in _trials(part)]
    asked = JobRequest(
        name=draft.name.strip(), device=draft.device, trials=tuple(trials), plan=draft.plan, preset=draft.preset
    )
    check_job(asked)
    return asked


def problems(part: Part) -> tuple[str, ...]:
    """What is wrong with the axes, one sentence each."""
    found = []
    for axis in catalog.operation(part.operation).axes:
        try:
            _values(axis, part.axes)
        except sweep.SweepError as error:
            found.append(str(error))
    return tuple(found)


def walkable(parts: Sequence[Part]) -> tuple[str, ...]:
    """The axes of whole numbers that all operations with a chosen variant have."""
    numbers = [
        [axis.name for axis in catalog.operation(part.operation).axes if type(axis.default) is int]
        for part in parts
        if part.variants
    ]
    return tuple(name for name in numbers[0] if all(name in others for others in numbers)) if numbers else ()


def workloads(part: Part) -> tuple[Workload, ...]:
    """One for each combination of the axes' values."""
    operation = catalog.operation(part.operation)
    free = [axis for axis in operation.axes if not _is_following(axis, part.axes)]
    swept = [_values(axis, part.axes) for axis in free]
    if (trials := prod(map(len, swept))) > MOST_TRIALS:
        raise JobError(f"the axes make {trials:,} workloads; accepted are at most {MOST_TRIALS}")
    names = [axis.name for axis in free]
    return tuple(
        Workload(
            operation=part.operation, axes=_all_axes(operation, dict(zip(names, row, strict=True))), dtype=part.dtype
        )
        for row in islice(product(*swept), MOST_TRIALS)
    )


def _trials(part: Part) -> Sequence[TrialRequest]:
    return (
        [TrialRequest(workload=workload, variants=part.variants) for workload in workloads(part)]
        if part.variants
        else []
    )


def _values(axis: catalog.Axis, axes: Mapping[str, str]) -> tuple[AxisValue, ...]:
    return () if _is_following(axis, axes) else sweep.values(axis, axes.get(axis.name, ""))


def _is_following(axis: catalog.Axis, axes: Mapping[str, str]) -> bool:
    return axis.name in FOLLOWS and not axes.get(axis.name, "").strip()


def _all_axes(operation: catalog.Operation, given: Mapping[str, AxisValue]) -> dict[str, AxisValue]:
    return {
        axis.name: given.get(axis.name, given.get(FOLLOWS.get(axis.name, ""), axis.default)) for axis in operation.axes
    }
