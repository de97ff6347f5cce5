"""`fusescope trace FILE`: the facts of a recording, and what is missing or impossible in it."""

from __future__ import annotations

import argparse
from pathlib import Path

from app.commands.command import Exit
from app.commands.output import print_json
from app.commands.trace_text import described
from profiles.trace.errors import TraceError
from profiles.trace.limits import trace_limits
from profiles.trace.read import read_trace
from profiles.trace.summary import summarise

ERRORS = (TraceError,)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="a Kineto (Chrome) trace or an SQLite export of Nsight Systems, plain or gzip",
    )


def run(options: argparse.Namespace) -> Exit:
    summary = summarise(read_trace(options.file, limits=trace_limits()))
    if options.json:
        print_json(summary)
    else:
        print("\n".join(described(summary)))
    return Exit.SUCCEEDED
