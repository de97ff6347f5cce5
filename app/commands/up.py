"""`fusescope up`: everything on this machine, in the foreground, until Ctrl-C or SIGTERM."""

from __future__ import annotations

import argparse
import sys

from app.commands import stored
from app.commands.command import Exit
from app.commands.output import print_json
from app.up import UpError, up
from db.settings import read_settings
from profiles.reports import Said
from workers.valkey import NoQueueServer

ERRORS = (*stored.ERRORS, UpError, NoQueueServer)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (%(default)s)")
    parser.add_argument("--port", type=int, default=8501, help="the port to listen on (%(default)s)")
    stored.add_state_argument(parser)


def run(options: argparse.Namespace) -> Exit:
    settings = read_settings(state=options.state)

    def tell(line: str) -> None:
        if options.json:
            print_json(Said(message=line, host=options.host, port=options.port, state=str(settings.state)))
        else:
            print(line)
        sys.stdout.flush()

    return Exit(up(settings, options.host, options.port, say=tell))
