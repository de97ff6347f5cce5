"""`fusescope import`: store the results of bundles. Importing one twice changes nothing."""

from __future__ import annotations

import argparse
from pathlib import Path

from app.commands import stored
from app.commands.command import Exit
from app.commands.output import print_json
from db.bundles import import_bundle
from db.store import TraceStore
from profiles.bundle import BundleError
from profiles.reports import Imported

ERRORS = (*stored.ERRORS, BundleError)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a bundle, FILE.fusescope")
    stored.add_state_argument(parser)


def run(options: argparse.Namespace) -> Exit:
    with stored.stored(options) as at:
        for file in options.files:
            outcome = import_bundle(at.database, TraceStore(at.settings.traces_url), file)
            imported = Imported(
                file=str(file),
                comparisons=tuple(outcome.comparison_ids),
                runs_new=outcome.runs_new,
                runs_known=outcome.runs_known,
            )
            _tell(imported, as_json=options.json)
    return Exit.SUCCEEDED


def _tell(imported: Imported, *, as_json: bool) -> None:
    if as_json:
        print_json(imported)
        return
    where = ", ".join(f"comparison {comparison}" for comparison in imported.comparisons)
    print(f"{imported.file}: {where}; {imported.runs_new} runs are new, {imported.runs_known} were known")
