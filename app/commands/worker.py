"""`fusescope worker`: the worker of one device, or one that only reads traces, until Ctrl-C or SIGTERM."""

from __future__ import annotations

import argparse
import sys

from app.commands import stored
from app.commands.command import CommandError, Exit
from app.commands.output import print_json
from db.settings import Settings
from profiles.devices import DeviceError, find_device
from profiles.reports import TraceWorker
from workers.celery_app import TRACES_QUEUE
from workers.start import WorkerError, run_trace_worker, run_worker

ERRORS = (*stored.ERRORS, DeviceError, WorkerError)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--device", metavar="DEVICE", help="cpu or cuda:N: measure there, and read imported traces")
    what.add_argument("--traces", action="store_true", help="only read imported traces; needs no torch")
    stored.add_state_argument(parser)


def run(options: argparse.Namespace) -> Exit:
    """The state database must be of this version before the worker beats into it."""
    capabilities = None if options.traces else find_device(options.device)
    with stored.stored(options) as at:
        settings = at.settings
    if capabilities is None:
        return _read_traces(settings, as_json=options.json)
    if options.json:
        print_json(capabilities)
        sys.stdout.flush()
    if run_worker(settings, capabilities.device):
        raise CommandError(f"the worker for {capabilities.device} ended by a fault; its log above says which")
    return Exit.SUCCEEDED


def _read_traces(settings: Settings, *, as_json: bool) -> Exit:
    if as_json:
        print_json(TraceWorker(reads=TRACES_QUEUE))
        sys.stdout.flush()
    if run_trace_worker(settings):
        raise CommandError("the worker for traces ended by a fault; its log above says which")
    return Exit.SUCCEEDED
