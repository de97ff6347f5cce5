"""`fusescope export`: a stored comparison as a bundle, with its traces."""

from __future__ import annotations

import argparse
from pathlib import Path

from app.commands import stored
from app.commands.command import Exit
from app.commands.output import print_json
from app.raw_files import removed_because
from db.bundles import export_comparison
from db.store import TraceStore
from profiles.bundle import BundleError
from profiles.comparison.figures import count, mib
from profiles.reports import Exported

ERRORS = (*stored.ERRORS, BundleError)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("comparison", type=int, metavar="COMPARISON", help="the comparison's id")
    parser.add_argument("file", type=Path, metavar="FILE", help="the bundle to write, FILE.fusescope")
    stored.add_state_argument(parser)


def run(options: argparse.Namespace) -> Exit:
    with stored.stored(options) as at:
        store = TraceStore(at.settings.traces_url)
        outcome = export_comparison(at.database, store, options.comparison, options.file)
    exported = Exported(
        file=str(options.file),
        comparison=options.comparison,
        size_bytes=options.file.stat().st_size,
        runs=outcome.runs,
        left_out=outcome.left_out,
        traces=outcome.traces,
        traces_missing=outcome.traces_missing,
        artefacts=outcome.artefacts,
        artefacts_missing=outcome.artefacts_missing,
        traces_removed=outcome.traces_removed,
    )
    if options.json:
        print_json(exported)
    else:
        print("\n".join(_described(exported, removed_because(at.settings.keep_raw_days))))
    return Exit.SUCCEEDED


def _described(exported: Exported, removed_because: str) -> list[str]:
    files = [f"{count(exported.artefacts, 'file')} of generated code"] if exported.artefacts else []
    parts = [count(exported.runs, "run"), count(exported.traces, "trace"), *files, f"{mib(exported.size_bytes)} MiB"]
    what = ", ".join(parts)
    lines = [f"{exported.file}: comparison {exported.comparison}, {what}"]
    if exported.left_out:
        lines.append(f"left out, because they are not measured: {exported.left_out}")
    if exported.traces_removed:
        lines.append(f"raw traces that were removed, {removed_because}: {exported.traces_removed}")
    if lost := exported.traces_missing - exported.traces_removed:
        lines.append(f"raw traces that are not in the trace store: {lost}")
    if exported.traces_missing:
        lines.append("their runs are in the bundle with all numbers; where it is imported they have no timeline")
    if exported.artefacts_missing:
        lines.append(f"files of generated code that are not kept any more: {exported.artefacts_missing}")
    return lines
