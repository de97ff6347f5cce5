"""`fusescope compare`: variants of bundles and stored comparisons, or traces, side by side, as text or JSON."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from app.commands import compare_traces, stored
from app.commands.command import CommandError, Exit
from app.commands.outcome import exit_code
from app.commands.output import print_json
from app.commands.variant_table import described
from db.comparisons import comparison
from profiles.bundle import BundleError, read_bundle
from profiles.ceilings import Ceilings
from profiles.comparison.document import document
from profiles.comparison.entry import Entry, letters, sections
from profiles.comparison.judgement import judge
from profiles.comparison.speed import By
from profiles.environment import Environment
from profiles.plan import Plan
from profiles.results import Run
from profiles.workload import Workload

ERRORS = (*stored.ERRORS, BundleError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One entry of a source: a bundle's file, or a comparison's id. Keys and trials run through all sources."""

    source: str
    key: str
    variant: str
    run: Run | None
    pending: bool
    workload: Workload
    plan: Plan
    environment: Environment | None
    ceilings: Ceilings | None
    trial_id: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="a bundle's file, or the id of a stored comparison; or traces alone (two to eight, the baseline first)",
    )
    parser.add_argument(
        "--baseline", metavar="VARIANT", help="a variant, a trace's file, or a key (A, B …); else the operation's own"
    )
    parser.add_argument("--by", choices=[str(by) for by in By], help=f"the time to compare by (else {By.GPU_TIME})")
    compare_traces.add_arguments(parser)
    stored.add_state_argument(parser)


def run(options: argparse.Namespace) -> Exit:
    if compare_traces.are_traces(options.sources):
        if options.by is not None:
            raise CommandError("--by chooses among the times of measured runs; traces have one")
        return compare_traces.run(options)
    if options.fail_on:
        raise CommandError("--fail-on is for traces; measured runs have verdicts")
    return _measured(options, options.by or str(By.GPU_TIME))


def _measured(options: argparse.Namespace, by: str) -> Exit:
    candidates = _candidates(options)
    if options.json:
        print_json(document(candidates, base_key=options.baseline, by=by, source=lambda one: one.source))
    else:
        judged = judge(candidates, base_key=options.baseline, by=by)
        lines = [
            described(section, baseline=options.baseline, by=by, judged=judged) for section in sections(candidates)
        ]
        print("\n\n".join("\n".join(section) for section in lines))
    return exit_code(candidates)


def _candidates(options: argparse.Namespace) -> list[Candidate]:
    """The database is opened for ids alone."""
    ids = [source for source in options.sources if source.isdigit()]
    with ExitStack() as stack:
        at = stack.enter_context(stored.stored(options)) if ids else None
        found: list[tuple[str, Entry]] = []
        for source in options.sources:
            if at is not None and source in ids:
                entries: Sequence[Entry] = comparison(at.database, int(source)).entries
            else:
                entries = read_bundle(Path(source)).entries
            found += [(source, entry) for entry in entries]
    trials = list(dict.fromkeys((source, entry.trial_id) for source, entry in found))
    return [
        _candidate(source, entry, key=letters(position), trial_id=trials.index((source, entry.trial_id)))
        for position, (source, entry) in enumerate(found)
    ]


def _candidate(source: str, entry: Entry, *, key: str, trial_id: int) -> Candidate:
    return Candidate(
        source=source,
        key=key,
        variant=entry.variant,
        run=entry.run,
        pending=entry.pending,
        workload=entry.workload,
        plan=entry.plan,
        environment=entry.environment,
        ceilings=entry.ceilings,
        trial_id=trial_id,
    )
