"""`fusescope worker`: the worker of one device, until Ctrl-C or SIGTERM."""

from __future__ import annotations

import argparse
import sys

from app.commands import stored
from app.commands.command import CommandError, Exit
from app.commands.output import print_json
from profiles.devices import DeviceError, find_device
from workers.start import WorkerError, run_worker

ERRORS = (*stored.ERRORS, DeviceError, WorkerError)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", required=True, metavar="DEVICE", help="cpu or cuda:N")
    stored.add_state_argument(parser)


def run(options: argparse.Namespace) -> Exit:
    """The state database must be of this version before the worker beats into it."""
    capabilities = find_device(options.device)
    with stored.stored(options) as at:
        settings = at.settings
    if options.json:
        print_json(capabilities)
        sys.stdout.flush()
    if run_worker(settings, capabilities.device):
        raise CommandError(f"the worker for {capabilities.device} ended by a fault; its log above says which")
    return Exit.SUCCEEDED
