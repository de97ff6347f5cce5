"""`fusescope run`: measure a preset here and now. No database, no queue: the supervisor, a folder, and the results."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

from app.commands import ceilings_cache, request
from app.commands.command import CommandError, Exit
from app.commands.outcome import exit_code
from app.commands.output import print_json
from app.commands.progress import ProgressLines
from app.commands.twin_table import described_twins
from app.commands.variant_table import described
from profiles.bundle import BundleError, write_bundle
from profiles.ceilings import Ceilings
from profiles.comparison.entry import entries_of, sections
from profiles.comparison.figures import workload_label
from profiles.comparison.judgement import judge, with_comparisons
from profiles.comparison.speed import By
from profiles.devices import DeviceError, find_device
from profiles.environment import Environment
from profiles.job import JobRequest, TrialRequest
from profiles.results import Failure, Results, Run, RunStatus, Trial
from profiles.supervisor import MeasuredRun, TrialError, measure_trial

ERRORS = (*request.ERRORS, BundleError, DeviceError)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    request.add_request_arguments(parser)
    parser.add_argument("--output", type=Path, metavar="FILE", help="also write a bundle, with the traces")
    parser.add_argument(
        "--aa", action="store_true", help="time every variant twice and compare it with itself: no verdict may differ"
    )


def run(options: argparse.Namespace) -> Exit:
    job = request.build_request(options)
    device = find_device(job.device).device
    if options.output is not None:
        _check_writable(options.output)
    with TemporaryDirectory(prefix="fusescope-") as directory, _cancelled_by_signals() as cancelled:
        try:
            lines = ProgressLines(sys.stderr)
            measured = _Measurement(job, device, Path(directory), lines, cancelled, twins=options.aa).measure()
        except TrialError as error:
            print(f"fusescope: {error.message}", file=sys.stderr)
            return Exit.FAILED
        if measured is None:
            print("fusescope: interrupted before anything was measured", file=sys.stderr)
            return Exit.INTERRUPTED
        # First: a full disk must not cost what was measured.
        _print(measured.results, as_json=options.json, aa=options.aa)
        if options.output is not None:
            write_bundle(options.output, measured.results, measured.traces, artefacts=measured.artefacts)
    return exit_code(entries_of(measured.results))


@dataclass(frozen=True, slots=True)
class Measured:
    """`traces` and `artefacts` are files by their SHA-256, in the folder of the measurement."""

    results: Results
    traces: dict[str, Path]
    artefacts: dict[str, Path]


@dataclass(slots=True)
class _Signals:
    """Whether Ctrl-C or SIGTERM has come; what was measured until then is still shown."""

    came: bool = False

    def handle(self, _signal: int, _frame: FrameType | None) -> None:
        self.came = True


@dataclass(slots=True)
class _Measurement:
    """`device` is the one that the job's device class means here; `twins` are timed for `--aa`."""

    job: JobRequest
    device: str
    directory: Path
    lines: ProgressLines
    cancelled: _Signals
    twins: bool = False
    environment: Environment | None = None
    ceilings: Ceilings | None = None
    windows: dict[str, float] = field(default_factory=dict)
    traces: dict[str, Path] = field(default_factory=dict)
    artefacts: dict[str, Path] = field(default_factory=dict)

    def measure(self) -> Measured | None:
        """None where an interruption came before a measuring process said what machine this is. TrialError where not
        even one started: nothing at all is known then."""
        trials = [self._trial(trial, self._folder(position)) for position, trial in enumerate(self.job.trials)]
        if self.environment is None:
            return None
        results = Results(
            preset=self.job.preset,
            plan=self.job.plan,
            environment=self.environment,
            trials=tuple(trials),
            name=self.job.name,
            ceilings=self.ceilings,
        )
        results = with_comparisons(results, twins=self.twins)
        return Measured(results=results, traces=self.traces, artefacts=self.artefacts)

    def _folder(self, position: int) -> Path:
        folder = self.directory / str(position)
        folder.mkdir()
        return folder

    def _trial(self, trial: TrialRequest, folder: Path) -> Trial:
        self.lines.begin(f"{trial.workload.operation} {workload_label(trial.workload)} on {self.device}")
        try:
            outcome = measure_trial(
                trial,
                plan=self.job.plan,
                device=self.device,
                directory=folder,
                on_progress=self.lines.progress,
                on_environment=self._learn,
                on_run=self._take,
                cancelled=lambda: self.cancelled.came,
                twins=self.twins,
                on_ceilings=self._learn_ceilings if self.ceilings is None else None,
                ceilings_known=ceilings_cache.known(),
                windows_known=self.windows,
            )
        except TrialError as error:
            if self.environment is None:
                raise
            return Trial(workload=trial.workload, runs=_all_failed(trial, error.failure))
        if outcome.environment is not None and outcome.window_ns is not None:
            self.windows[outcome.environment.digest] = outcome.window_ns
        return Trial(workload=trial.workload, runs=outcome.runs)

    def _learn(self, environment: Environment) -> None:
        self.environment = environment
        self.ceilings = self.ceilings or ceilings_cache.load(environment)

    def _learn_ceilings(self, ceilings: Ceilings) -> None:
        self.ceilings = ceilings
        if self.environment is not None:
            ceilings_cache.store(self.environment, ceilings)

    def _take(self, measured: MeasuredRun) -> None:
        self.lines.run(measured.run)
        self.artefacts |= measured.artefact_paths
        if measured.run.trace is not None and measured.trace_path is not None:
            self.traces[measured.run.trace] = measured.trace_path


def _all_failed(trial: TrialRequest, failure: Failure) -> tuple[Run, ...]:
    return tuple(Run(variant=variant, status=RunStatus.FAILED, failure=failure) for variant in trial.variants)


def _check_writable(output: Path) -> None:
    """Before minutes of measuring, not after them."""
    if output.is_dir() or not os.access(output.parent, os.W_OK):
        raise CommandError(f"--output {output} cannot be written; expected a file in a folder that is there")


@contextmanager
def _cancelled_by_signals() -> Iterator[_Signals]:
    signals = _Signals()
    before = {number: signal.signal(number, signals.handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _print(results: Results, *, as_json: bool, aa: bool) -> None:
    if as_json:
        print_json(results)
        return
    entries = entries_of(results)
    if aa:
        print("\n".join(described_twins(results)))
        return
    judged = judge(entries, by=By.GPU_TIME)
    for section in sections(entries):
        print("\n".join(described(section, baseline=None, by=By.GPU_TIME, judged=judged)) + "\n")
