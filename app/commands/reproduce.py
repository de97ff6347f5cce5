"""`fusescope reproduce FILE --variant NAME`: one run of a bundle as one Python file that needs torch alone."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from app.commands.command import Exit
from app.commands.output import print_json
from profiles.bundle import BundleError, read_bundle
from profiles.reports import Reproduced
from profiles.reproduce.choice import chosen
from profiles.reproduce.errors import ReproduceError
from profiles.reproduce.script import reproducer

ERRORS = (BundleError, ReproduceError)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a bundle (.fusescope)")
    parser.add_argument("--variant", required=True, metavar="NAME", help="attention/naive, unfused@compile, or a key")
    parser.add_argument("--workload", type=int, metavar="N", help="which of the variant's workloads, counted from 1")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the script there, not on standard output")


def run(options: argparse.Namespace) -> Exit:
    """The script goes to one place: the file, the JSON, or standard output."""
    entry = chosen(read_bundle(options.file).entries, options.variant, workload=options.workload)
    made = reproducer(entry)
    if options.output is not None:
        options.output.write_text(made.text, encoding="utf-8")
    if options.json:
        variant = f"{entry.workload.operation}/{entry.variant}"
        output = None if options.output is None else str(options.output)
        told = Reproduced(
            file=str(options.file),
            key=entry.key,
            variant=variant,
            workload=entry.workload,
            filename=made.filename,
            output=output,
            script=made.text,
        )
        print_json(told)
    elif options.output is not None:
        print(f"{options.output}: run it with `python {options.output}`")
    else:
        sys.stdout.write(made.text)
    return Exit.SUCCEEDED
