"""The job that a preset and its options on the command line describe; what `run` and `submit` have in common."""

from __future__ import annotations

import argparse
from typing import TypeVar

import msgspec

from app.commands.command import CommandError
from app.commands.plan_options import add_plan_arguments, changed_plan
from profiles import catalog
from profiles.catalog import CatalogError
from profiles.devices import find_devices
from profiles.job import JobError, JobRequest, TrialRequest, check_job
from profiles.plan import PlanError
from profiles.presets import PRESETS, PresetError
from profiles.presets import request as preset_request
from profiles.variant import VariantError, parse_variant
from profiles.workload import AxisValue, Distribution, DType, Workload

ERRORS = (CatalogError, JobError, PlanError, PresetError, VariantError)
INPUT_FIELDS = ("dtype", "distribution", "seed")
Choice = TypeVar("Choice", DType, Distribution)


def add_request_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("preset", metavar="PRESET", help=", ".join(preset.name for preset in PRESETS))
    parser.add_argument(
        "--set",
        dest="settings",
        metavar="AXIS=VALUE",
        action="append",
        default=[],
        help="an axis of the workload, or dtype, distribution, seed; may be given more than once",
    )
    parser.add_argument(
        "--variant",
        dest="variants",
        metavar="VARIANT",
        action="append",
        default=[],
        help="measure this one (unfused@compile) and not all; may be given more than once",
    )
    parser.add_argument("--device", metavar="DEVICE", help="cpu, cuda or cuda:N; else the best of this machine")
    add_plan_arguments(parser)


def build_request(options: argparse.Namespace) -> JobRequest:
    """The checked job; an axis applies to each workload that has it, a variant to each operation that has it."""
    request = preset_request(options.preset, device=options.device or _best_device())
    changed = _with_settings(request.trials, [_parsed(setting) for setting in options.settings])
    trials = _with_variants(changed, options.variants) if options.variants else changed
    job = msgspec.structs.replace(request, trials=trials, plan=changed_plan(request.plan, options))
    check_job(job)
    return job


def _best_device() -> str:
    return find_devices()[0].device.partition(":")[0]


def _parsed(setting: str) -> tuple[str, str]:
    name, equals, value = setting.partition("=")
    if not (name and equals and value):
        raise CommandError(f"--set {setting!r} is not AXIS=VALUE, such as seq_q=1024")
    return name, value


def _with_settings(trials: tuple[TrialRequest, ...], settings: list[tuple[str, str]]) -> tuple[TrialRequest, ...]:
    for name, value in settings:
        _check_name(name, trials)
        trials = tuple(
            msgspec.structs.replace(trial, workload=_with_setting(trial.workload, name, value)) for trial in trials
        )
    return trials


def _check_name(name: str, trials: tuple[TrialRequest, ...]) -> None:
    axes = dict.fromkeys(axis for trial in trials for axis in trial.workload.axes)
    if name not in axes and name not in INPUT_FIELDS:
        accepted = ", ".join(map(repr, (*axes, *INPUT_FIELDS)))
        raise CommandError(f"--set {name!r} names no axis of this preset; expected one of {accepted}")


def _with_setting(workload: Workload, name: str, value: str) -> Workload:
    if name == "dtype":
        return msgspec.structs.replace(workload, dtype=_one_of(DType, name, value))
    if name == "distribution":
        return msgspec.structs.replace(workload, distribution=_one_of(Distribution, name, value))
    if name == "seed":
        return msgspec.structs.replace(workload, seed=_whole(name, value))
    if name not in workload.axes:
        return workload
    return msgspec.structs.replace(workload, axes={**workload.axes, name: _axis_value(workload, name, value)})


def _axis_value(workload: Workload, name: str, text: str) -> AxisValue:
    default = next(axis.default for axis in catalog.operation(workload.operation).axes if axis.name == name)
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(text.lower(), text)
    return _whole(name, text) if isinstance(default, int) else text


def _whole(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise CommandError(f"--set {name}={text}: {text!r} is no whole number") from None


def _one_of(choices: type[Choice], name: str, text: str) -> Choice:
    try:
        return choices(text)
    except ValueError:
        accepted = ", ".join(repr(str(choice)) for choice in choices)
        raise CommandError(f"--set {name}={text}: expected one of {accepted}") from None


def _with_variants(trials: tuple[TrialRequest, ...], texts: list[str]) -> tuple[TrialRequest, ...]:
    """Of all that the operations have, not of the preset's alone. Trials whose operation has none of the variants are
    left out; a variant that none has is an error."""
    asked = [str(parse_variant(text)) for text in texts]
    offered = [tuple(map(str, catalog.variants(catalog.operation(trial.workload.operation)))) for trial in trials]
    known = dict.fromkeys(variant for variants in offered for variant in variants)
    for variant in asked:
        if variant not in known:
            raise CommandError(f"unknown variant {variant!r}; expected one of {', '.join(map(repr, known))}")
    chosen = [
        msgspec.structs.replace(trial, variants=tuple(v for v in asked if v in variants))
        for trial, variants in zip(trials, offered, strict=True)
    ]
    return tuple(trial for trial in chosen if trial.variants)
