"""`fusescope trace FILE`: the facts of a recording, and what is missing or impossible in it."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec

from app.commands.command import Exit
from app.commands.output import print_json
from app.commands.trace_text import described
from profiles.trace.errors import TraceError
from profiles.trace.kernel_table import kernel_table
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
    parser.add_argument(
        "--kernels", action="store_true", help="also list the kernels by name, with the operators that launched them"
    )


def run(options: argparse.Namespace) -> Exit:
    trace = read_trace(options.file, limits=trace_limits())
    summary = summarise(trace)
    if options.kernels:
        summary = msgspec.structs.replace(summary, kernel_table=kernel_table(trace))
    if options.json:
        print_json(summary)
    else:
        print("\n".join(described(summary)))
    return Exit.SUCCEEDED
