"""`fusescope import`: store what comes from elsewhere, judged by its content: bundles of results, and traces.

Importing a file twice changes nothing. The traces of one call become one comparison.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from app.commands import stored
from app.commands.command import CommandError, Exit
from app.commands.output import print_json
from app.commands.stored import Stored
from db.bundles import import_bundle
from db.direct_imports import ReadFile, store_read_files
from db.store import TraceStore
from db.trace_comparisons import MOST_TRACES
from db.traces import read_file
from profiles.archive import is_archive
from profiles.bundle import BundleError
from profiles.reports import Imported, ImportedTraceFile
from profiles.trace.errors import TraceError
from profiles.trace.printable import printable

ERRORS = (*stored.ERRORS, BundleError, OSError)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = "a bundle (FILE.fusescope) or a trace: Kineto JSON or an SQLite export of Nsight Systems, plain or gzip"
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help=what)
    stored.add_state_argument(parser)


def run(options: argparse.Namespace) -> Exit:
    """All traces are read before anything is stored: one that cannot be read is named, and none of them is."""
    bundles = [file for file in options.files if is_archive(file)]
    traces = [file for file in options.files if file not in bundles]
    if len(traces) > MOST_TRACES:
        raise CommandError(f"{len(traces)} traces are given; accepted are at most {MOST_TRACES} at once")
    with stored.stored(options) as at, TemporaryDirectory(prefix="fusescope-") as directory:
        read = [_read(file, Path(directory) / str(place)) for place, file in enumerate(traces)]
        for file in bundles:
            _import_bundle(at, file, as_json=options.json)
        if read:
            _import_traces(at, read, as_json=options.json)
    return Exit.SUCCEEDED


def _read(file: Path, directory: Path) -> ReadFile:
    directory.mkdir()
    try:
        return ReadFile(file, read_file(file, directory))
    except TraceError as error:
        raise CommandError(f"{file}: {error}; no trace of this call was stored") from error


def _import_bundle(at: Stored, file: Path, *, as_json: bool) -> None:
    outcome = import_bundle(at.database, TraceStore(at.settings.traces_url), file)
    imported = Imported(
        file=str(file),
        comparisons=tuple(outcome.comparison_ids),
        runs_new=outcome.runs_new,
        runs_known=outcome.runs_known,
        traces_missing=outcome.traces_missing,
        raw_returned=outcome.raw_returned,
    )
    if as_json:
        print_json(imported)
        return
    where = ", ".join(f"comparison {comparison}" for comparison in imported.comparisons)
    print(f"{imported.file}: {where}; {imported.runs_new} runs are new, {imported.runs_known} were known")
    if imported.raw_returned:
        print(f"raw traces that were no longer kept here, and are again: {imported.raw_returned}")
    if imported.traces_missing:
        print(f"traces that the bundle names and does not hold: {imported.traces_missing}; their runs have no timeline")


def _import_traces(at: Stored, read: list[ReadFile], *, as_json: bool) -> None:
    outcome = store_read_files(at.database, TraceStore(at.settings.traces_url), read)
    told = zip(read, outcome.import_ids, outcome.known, outcome.raw_returned, strict=True)
    for file, import_id, known, raw_returned in told:
        imported = ImportedTraceFile(
            file=str(file.path),
            trace=import_id,
            known=known,
            comparison=outcome.comparison_id,
            raw_returned=raw_returned,
        )
        if as_json:
            print_json(imported)
        else:
            state = "was known" if known else "is new"
            state += ", its raw file is kept again" if raw_returned else ""
            print(f"{printable(imported.file)}: comparison {imported.comparison}; trace {imported.trace} {state}")
