"""`fusescope compare` of trace files: which sources are traces, reading them, and what `--fail-on` decides."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from app.commands.command import CommandError, Exit
from app.commands.output import print_json
from app.commands.traces_text import described
from profiles.archive import is_archive
from profiles.comparison.entry import letters
from profiles.comparison.traces.compared import compared
from profiles.comparison.traces.document import ComparedTraces
from profiles.comparison.traces.entry import FEWEST, MOST
from profiles.comparison.traces.gate import FailOn, GateError, failures
from profiles.trace.contents import TraceContents, contents
from profiles.trace.errors import TraceError
from profiles.trace.limits import trace_limits
from profiles.trace.read import read_trace
from profiles.trace.summary import TraceSummary, summarise
from profiles.trace.wording import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceFile:
    key: str
    label: str
    path: Path
    summary: TraceSummary
    contents: TraceContents | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fail-on",
        metavar="WHAT,…",
        type=_fail_on,
        default=frozenset(),
        help="of traces: exit 1 where kernels per step changed; any of " + ", ".join(FailOn),
    )


def are_traces(sources: Sequence[str]) -> bool:
    """By what the files begin with: bundles are zip archives. CommandError for a mixture."""
    traces = [source for source in sources if _is_trace(source)]
    if not traces:
        return False
    others = [source for source in sources if source not in traces]
    if others:
        raise CommandError(
            f"{traces[0]} is a trace, {others[0]} is {_kind(others[0])}: traces compare with traces, measured runs with"
            " measured runs"
        )
    return True


def run(options: argparse.Namespace) -> Exit:
    if not FEWEST <= len(options.sources) <= MOST:
        raise CommandError(f"{counted(len(options.sources), 'trace')}; expected {FEWEST} to {MOST} to compare")
    traces = [_read(Path(source), letters(at)) for at, source in enumerate(options.sources)]
    told = compared(traces, _base_key(traces, options.baseline), source=lambda trace: str(trace.path))
    failed, unjudged = _judged(told, options.fail_on)
    if options.json:
        print_json(msgspec.structs.replace(told, failed_on=failed, not_judged=unjudged))
    else:
        print("\n".join(described(told)))
    for line in failed:
        print(f"fusescope: failed on {line}", file=sys.stderr)
    if unjudged is not None:
        raise CommandError(f"--fail-on cannot be judged: {unjudged}")
    return Exit.FAILED if failed else Exit.SUCCEEDED


def _is_trace(source: str) -> bool:
    return not source.isdigit() and not is_archive(Path(source))


def _fail_on(words: str) -> frozenset[FailOn]:
    """Nothing to fail on, as of a variable that is not set, would pass whatever changed."""
    if not words.strip(", "):
        raise argparse.ArgumentTypeError(f"names nothing to fail on; expected any of {', '.join(FailOn)}")
    try:
        return frozenset(FailOn(word.strip()) for word in words.split(",") if word.strip())
    except ValueError:
        unknown = next(word for word in words.split(",") if word.strip() not in list(FailOn))
        raise argparse.ArgumentTypeError(f"unknown {unknown.strip()!r}; expected any of {', '.join(FailOn)}") from None


def _kind(source: str) -> str:
    return "the id of a stored comparison" if source.isdigit() else "a bundle"


def _read(path: Path, key: str) -> TraceFile:
    try:
        trace = read_trace(path, limits=trace_limits())
    except TraceError as error:
        raise CommandError(f"{path}: {error}") from error
    return TraceFile(key=key, label=path.name, path=path, summary=summarise(trace), contents=contents(trace))


def _base_key(traces: Sequence[TraceFile], asked: str | None) -> str | None:
    """By key, or by the file as it was given or its name."""
    if asked is None:
        return None
    for trace in traces:
        if asked in (trace.key, str(trace.path), trace.label):
            return trace.key
    names = ", ".join(f"{trace.key} ({trace.label})" for trace in traces)
    raise CommandError(f"no trace {asked!r} here; expected one of {names}")


def _judged(told: ComparedTraces, on: frozenset[FailOn]) -> tuple[tuple[str, ...], str | None]:
    """What the candidates failed on, and why one could not be judged."""
    failed: list[str] = []
    unjudged: str | None = None
    for difference in told.differences if on else ():
        try:
            failed += [f"{difference.candidate}: {line}" for line in failures(difference, on)]
        except GateError as error:
            unjudged = unjudged or str(error)
    return tuple(failed), unjudged
