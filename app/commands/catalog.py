"""`fusescope catalog`: operations, variants and presets, and what the devices of this machine can run of them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from app.commands.command import Exit
from app.commands.output import print_json, table
from profiles.catalog import OPERATIONS, Implementation, Operation
from profiles.devices import find_devices
from profiles.presets import PRESETS
from profiles.reports import Catalogue, CatalogueAxis, CatalogueImplementation, CatalogueOperation, CataloguePreset
from profiles.variant import Variant
from profiles.worker import Capabilities, why_not
from profiles.workload import Workload

ERRORS: tuple[type[Exception], ...] = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    del parser  # it has no options of its own


def run(options: argparse.Namespace) -> Exit:
    catalogue = catalogue_for(find_devices())
    if options.json:
        print_json(catalogue)
    else:
        print("\n".join(_described(catalogue)))
    return Exit.SUCCEEDED


def catalogue_for(devices: Sequence[Capabilities]) -> Catalogue:
    """The catalogue, with what at least one of `devices` can run marked as available."""
    return Catalogue(
        operations=tuple(_operation(operation, devices) for operation in OPERATIONS),
        presets=tuple(CataloguePreset(name=preset.name, question=preset.question) for preset in PRESETS),
    )


def _operation(operation: Operation, devices: Sequence[Capabilities]) -> CatalogueOperation:
    return CatalogueOperation(
        name=operation.name,
        stages=operation.stages,
        axes={
            axis.name: CatalogueAxis(default=axis.default, meaning=axis.meaning, choices=axis.choices or None)
            for axis in operation.axes
        },
        implementations=tuple(_implementation(operation, one, devices) for one in operation.implementations),
    )


def _implementation(
    operation: Operation, implementation: Implementation, devices: Sequence[Capabilities]
) -> CatalogueImplementation:
    refused = {
        str(execution): reason
        for execution in implementation.executions
        if (reason := _why_nowhere(operation, Variant(implementation.name, execution), devices)) is not None
    }
    available = len(refused) < len(implementation.executions)
    return CatalogueImplementation(
        name=implementation.name,
        executions=tuple(map(str, implementation.executions)),
        available=available,
        reason=None if available else next(iter(refused.values())),
        refused_executions=refused,
        note=implementation.note,
    )


def _why_nowhere(operation: Operation, variant: Variant, devices: Sequence[Capabilities]) -> str | None:
    """Why no device can run the variant, whatever the shape and the dtype; None where one can."""
    reasons = [_why_not_on(operation, variant, device) for device in devices]
    if None in reasons:
        return None
    return "; ".join(dict.fromkeys(reason for reason in reasons if reason)) or "this machine has no device"


def _why_not_on(operation: Operation, variant: Variant, device: Capabilities) -> str | None:
    dtype = operation.implementation(variant.implementation).needs.dtypes[0]
    axes = {axis.name: axis.default for axis in operation.axes}
    return why_not(variant, Workload(operation=operation.name, axes=axes, dtype=dtype), device)


def _described(catalogue: Catalogue) -> list[str]:
    lines: list[str] = []
    for operation in catalogue.operations:
        axes = " ".join(f"{name}={_written(axis.default)}" for name, axis in operation.axes.items())
        rows = [_row(implementation) for implementation in operation.implementations]
        lines += [operation.name, f"  {axes}"]
        lines += [f"  {line}" for line in table(("", "executions", "here", ""), rows, right=(False,) * 4)]
        lines.append("")
    width = max(len(preset.name) for preset in catalogue.presets)
    lines += ["presets", *(f"  {preset.name:<{width}}  {preset.question}" for preset in catalogue.presets)]
    return lines


def _row(implementation: CatalogueImplementation) -> tuple[str, str, str, str]:
    executions = ", ".join(implementation.executions)
    if implementation.available:
        return implementation.name, executions, "yes", _refused(implementation) or implementation.note
    return implementation.name, executions, "no", implementation.reason or ""


def _refused(implementation: CatalogueImplementation) -> str:
    """`compile-reduce-overhead, cudagraph: CUDA graphs need …`: each reason once."""
    by_reason: dict[str, list[str]] = {}
    for execution, reason in implementation.refused_executions.items():
        by_reason.setdefault(reason, []).append(execution)
    return "; ".join(f"{', '.join(executions)}: {reason}" for reason, executions in by_reason.items())


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
