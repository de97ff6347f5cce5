"""`fusescope doctor`: looks at everything that must work here, and says how to mend what does not."""

from __future__ import annotations

import argparse

from app.commands import checks, stored
from app.commands.command import Exit
from app.commands.output import print_json
from db.settings import Settings, SettingsError, read_settings
from profiles.devices import find_devices
from profiles.reports import Check, Diagnosis

ERRORS = (SettingsError,)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    stored.add_state_argument(parser)


def run(options: argparse.Namespace) -> Exit:
    diagnosis = Diagnosis(checks=diagnose(read_settings(state=options.state)))
    if options.json:
        print_json(diagnosis)
    else:
        print("\n".join(_described(diagnosis.checks)))
    return Exit.FAILED if any(check.state == "fail" for check in diagnosis.checks) else Exit.SUCCEEDED


def diagnose(settings: Settings) -> tuple[Check, ...]:
    devices = find_devices()
    return (
        checks.python(),
        checks.torch(devices),
        checks.driver(devices),
        *map(checks.device, devices),
        checks.compiler(devices),
        checks.transformers(devices),
        checks.queue_server(settings),
        checks.queue(settings),
        checks.database(settings),
        checks.state(settings),
    )


def _described(found: tuple[Check, ...]) -> list[str]:
    width = max(len(check.name) for check in found)
    lines: list[str] = []
    for check in found:
        lines.append(f"{check.state:<4}  {check.name:<{width}}  {check.found}")
        lines += [f"{'':<4}  {'':<{width}}  → {check.remedy}"] if check.remedy else []
    return lines
