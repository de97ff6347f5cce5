"""One attempt at a trial, in the pool process: claim it, measure it, store each run, end it. All of it fenced."""

from __future__ import annotations

import logging
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy.exc import OperationalError

from db.ceilings import environments_with_ceilings, store_ceilings
from db.ownership import Beat
from db.runs import TextFiles, store_run
from db.session import Database, open_database
from db.settings import Settings
from db.store import TraceStore
from db.traces import StoredTrace, save_trace
from db.trials import Assignment, assignment, beat, claim_trial, finish_trial, give_back, record_progress
from db.views import TrialStatus
from profiles.ceilings import Ceilings
from profiles.environment import Environment
from profiles.protocol import Progress
from profiles.results import Failure, FailureKind, RunStatus
from profiles.supervisor import MEASURE, Limits, MeasuredRun, TrialError, measure_trial
from profiles.trace.timeline import load_timeline
from workers.heart import Heart
from workers.insistence import Written, insist
from workers.pace import Pace

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Where and how a worker measures. `program` is the measuring program, another one in tests of the protocol.

    `windows` are what this process's trials took off times on the device, by environment: found once, not every time.
    """

    settings: Settings
    worker: str
    device: str
    pace: Pace = field(default_factory=Pace)
    limits: Limits = field(default_factory=Limits)
    program: tuple[str, ...] = MEASURE
    windows: dict[str, float] = field(default_factory=dict)


def attempt_trial(bench: Bench, trial_id: int) -> None:
    """Measure a trial if it is still queued; a duplicate of its message finds nothing to do."""
    with closing(open_database(bench.settings.database_url)) as db:
        number = claim_trial(db, trial_id, worker=bench.worker, lease_s=bench.pace.lease_s)
        if number is None:
            log.info("trial %d: nothing to claim", trial_id)
            return
        log.info("trial %d: attempt %d", trial_id, number)
        _Attempt(bench, db, trial_id, number, TraceStore(bench.settings.traces_url)).measure()


@dataclass(slots=True)
class _Attempt:
    bench: Bench
    db: Database
    trial_id: int
    number: int
    store: TraceStore
    environment: Environment | None = None
    noted: dict[tuple[str, str], float] = field(default_factory=dict)
    stopping: threading.Event = field(default_factory=threading.Event)

    def measure(self) -> None:
        with self._heart() as heart, _on_sigterm(self.stopping):
            try:
                with self._directory() as directory:
                    self._measure(heart, directory)
            except TrialError as error:
                self._finish(TrialStatus.FAILED, error.failure)
            except Exception as error:  # the process edge: what went wrong is recorded on the trial
                log.exception("trial %d", self.trial_id)
                message = f"{type(error).__name__}: {error}"
                self._finish(TrialStatus.FAILED, Failure(kind=FailureKind.INTERNAL, message=message))

    def _measure(self, heart: Heart, directory: Path) -> None:
        task: Assignment = assignment(self.db, self.trial_id)
        outcome = measure_trial(
            task.request,
            plan=task.plan,
            device=self.bench.device,
            directory=directory,
            on_progress=self._note,
            on_environment=self._learn,
            on_run=lambda measured: self._store(measured, heart),
            cancelled=lambda: heart.says_stop or self.stopping.is_set(),
            on_ceilings=self._keep_ceilings,
            ceilings_known=environments_with_ceilings(self.db),
            windows_known=self.bench.windows,
            limits=self.bench.limits,
            program=self.bench.program,
        )
        if outcome.environment is not None and outcome.window_ns is not None:
            self.bench.windows[outcome.environment.digest] = outcome.window_ns
        if heart.lost.is_set():
            log.warning("trial %d: given to another worker meanwhile", self.trial_id)
        elif not outcome.cancelled:
            self._finish(TrialStatus.DONE)
        elif heart.cancel_requested.is_set():
            self._finish(TrialStatus.CANCELLED)
        else:
            heart.stop()
            self._give_back()

    def _heart(self) -> Heart:
        return Heart(self._beat, what=f"trial {self.trial_id}", pace=self.bench.pace)

    def _beat(self) -> Beat:
        lease_s = self.bench.pace.lease_s
        return beat(self.db, self.trial_id, worker=self.bench.worker, attempt=self.number, lease_s=lease_s)

    @contextmanager
    def _directory(self) -> Iterator[Path]:
        """This device's own, emptied first: an attempt that was killed left its files there."""
        path = self.bench.settings.state / "work" / self.bench.device.replace(":", "-")
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True, exist_ok=True)
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def _learn(self, environment: Environment) -> None:
        self.environment = environment

    def _keep_ceilings(self, ceilings: Ceilings) -> None:
        """Lost ones are measured again in the next trial."""
        assert self.environment is not None, "the child says first what machine this is"
        try:
            store_ceilings(self.db, self.environment, ceilings)
            log.info("trial %d: ceilings measured", self.trial_id)
        except OperationalError as error:
            log.warning("trial %d: ceilings not kept, the database does not answer: %s", self.trial_id, error)

    def _note(self, progress: Progress) -> None:
        """Beginnings and ends of phases always, what lies between now and then. A lost note is no loss."""
        phase, now = (progress.variant, progress.phase), time.monotonic()
        if 0.0 < progress.done < 1.0 and now - self.noted.get(phase, 0.0) < self.bench.pace.progress_s:
            return
        self.noted[phase] = now
        try:
            record_progress(self.db, self.trial_id, worker=self.bench.worker, attempt=self.number, progress=progress)
        except OperationalError as error:
            log.warning("trial %d: progress not noted, the database does not answer: %s", self.trial_id, error)

    def _store(self, measured: MeasuredRun, heart: Heart) -> None:
        """A cancelled run is left out: the end of the trial makes one, or the next attempt measures the variant."""
        if measured.run.status is RunStatus.CANCELLED or heart.lost.is_set():
            return
        run_id = self._insist(lambda: self._store_run(measured))
        if run_id is None:
            heart.lost.set()

    def _store_run(self, measured: MeasuredRun) -> int | None:
        files = TextFiles(self.store, tuple(measured.artefact_paths.values()))
        files.put()
        return store_run(
            self.db,
            trial_id=self.trial_id,
            worker=self.bench.worker,
            attempt=self.number,
            run=measured.run,
            environment=self.environment,
            trace=self._save_trace(measured),
            files=files,
        )

    def _save_trace(self, measured: MeasuredRun) -> StoredTrace | None:
        if measured.trace_path is None or measured.timeline_path is None or measured.summary is None:
            return None
        timeline = load_timeline(measured.timeline_path)
        stored = save_trace(
            self.db, self.store, measured.trace_path, timeline, measured.summary, contents=measured.contents
        )
        if stored.raw_returned:
            log.info("trial %d: the raw trace %s was no longer kept, and is again", self.trial_id, stored.sha256)
        return stored

    def _finish(self, status: TrialStatus, failure: Failure | None = None) -> None:
        self._insist(lambda: self._finish_once(status, failure))
        log.info("trial %d: %s", self.trial_id, status)

    def _finish_once(self, status: TrialStatus, failure: Failure | None) -> bool:
        return finish_trial(
            self.db, self.trial_id, worker=self.bench.worker, attempt=self.number, status=status, failure=failure
        )

    def _insist(self, write: Callable[[], Written]) -> Written:
        return insist(write, what=f"trial {self.trial_id}", stopping=self.stopping.is_set)

    def _give_back(self) -> None:
        give_back(self.db, self.trial_id, worker=self.bench.worker, attempt=self.number)
        log.info("trial %d: given back, this worker stops", self.trial_id)


@contextmanager
def _on_sigterm(event: threading.Event) -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, lambda *_: event.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
