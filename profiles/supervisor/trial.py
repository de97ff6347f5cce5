"""Measures one trial: hands its variants to children, and goes on with the others when one kills its child."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from profiles.ceilings import Ceilings
from profiles.comparison.floor import checked
from profiles.environment import Environment
from profiles.job import TrialRequest
from profiles.plan import Order, Plan
from profiles.protocol import DOING, CeilingsMeasured, Event, Finished, MeasureSpec, Progress, Started
from profiles.results import Failure, FailureKind, Run, RunStatus
from profiles.supervisor.child import MEASURE, MeasuringChild, ProtocolError
from profiles.supervisor.completion import Completion, Completions, MeasuredRun, trace_lost
from profiles.supervisor.limits import Limits, Watch, planned_s

TICK_S = 0.1
DEATHS_BEFORE_ISOLATION = 2


class TrialError(Exception):
    """A trial that could not be measured at all: its child did not even start."""

    def __init__(self, kind: FailureKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message

    @property
    def failure(self) -> Failure:
        return Failure(kind=self.kind, message=self.message)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOutcome:
    """`runs` are in the request's order; `environment` is None where no child started. `window_ns` is what was taken
    off times on the device; None where nothing was."""

    runs: tuple[Run, ...]
    environment: Environment | None
    cancelled: bool
    window_ns: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearer:
    """Who is told what while a trial is measured; all on the measuring thread."""

    on_progress: Callable[[Progress], None]
    on_environment: Callable[[Environment], None]
    on_run: Callable[[MeasuredRun], None]
    cancelled: Callable[[], bool]
    on_ceilings: Callable[[Ceilings], None] | None = None


def measure_trial(
    request: TrialRequest,
    *,
    plan: Plan,
    device: str,
    directory: Path,
    on_progress: Callable[[Progress], None],
    on_environment: Callable[[Environment], None],
    on_run: Callable[[MeasuredRun], None],
    cancelled: Callable[[], bool],
    on_ceilings: Callable[[Ceilings], None] | None = None,
    ceilings_known: Collection[str] = (),
    windows_known: Mapping[str, float] | None = None,
    twins: bool = False,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    program: tuple[str, ...] = MEASURE,
) -> TrialOutcome:
    """Measure every variant of `request`; each run is told once, as soon as it is complete.

    What a variant does ends up in its run. TrialError where the first child cannot even start. When `cancelled` turns
    true, all processes are gone within 2 s and the variants without a run are told as cancelled. The calling thread is
    the children's parent: it must be the one that lives on. The device's ceilings are measured where `on_ceilings`
    wants to be told them, unless the digest of the environment that turns up is among `ceilings_known`; `windows_known`
    has by such digests what earlier trials took off times on the device, which costs seconds to find. With `twins`
    every variant is timed twice, as if it were two.
    """
    hearer = Hearer(
        on_progress=on_progress,
        on_environment=on_environment,
        on_run=on_run,
        cancelled=cancelled,
        on_ceilings=on_ceilings,
    )
    trial = _Trial(
        request=request,
        plan=plan,
        device=device,
        directory=directory,
        hearer=hearer,
        limits=limits,
        program=program,
        twins=twins,
        known_environments=tuple(ceilings_known),
        windows_known=dict(windows_known or {}),
    )
    return trial.measure()


@dataclass(slots=True, kw_only=True)
class _Trial:
    request: TrialRequest
    plan: Plan
    device: str
    directory: Path
    hearer: Hearer
    limits: Limits
    program: tuple[str, ...]
    twins: bool = False
    ceilings_known: bool = False
    known_environments: tuple[str, ...] = ()
    windows_known: dict[str, float] = field(default_factory=dict)
    window_ns: float | None = None
    environment: Environment | None = None
    told: dict[str, Run] = field(default_factory=dict)
    again: set[str] = field(default_factory=set)
    batches: deque[tuple[str, ...]] = field(default_factory=deque)
    deaths: int = 0
    cancelled: bool = False

    def measure(self) -> TrialOutcome:
        self._plan_batches(self.request.variants)
        completions = Completions(device=self.device, directory=self.directory, limits=self.limits)
        try:
            while self.batches and not self._is_cancelled():
                self._measure_batch(self.batches.popleft(), completions)
                self._settle(completions)
            if self.cancelled:
                self._cancel_rest(completions)
        finally:
            completions.close()
        runs = tuple(self.told[variant] for variant in self.request.variants if variant in self.told)
        return TrialOutcome(runs=runs, environment=self.environment, cancelled=self.cancelled, window_ns=self.window_ns)

    def _plan_batches(self, variants: tuple[str, ...]) -> None:
        alone = self.plan.order is Order.ISOLATED or self.deaths >= DEATHS_BEFORE_ISOLATION
        self.batches.extend([(variant,) for variant in variants] if alone else [variants] if variants else [])

    def _is_cancelled(self) -> bool:
        self.cancelled = self.cancelled or self.hearer.cancelled()
        return self.cancelled

    def _measure_batch(self, batch: tuple[str, ...], completions: Completions) -> None:
        """One child's life, and what becomes of the variants that it left unfinished."""
        sitting = _Sitting(batch)
        failure = self._sit(sitting, completions)
        if failure is None or not sitting.unfinished:
            return
        if not sitting.started:
            self._fail_to_start(sitting, failure)
            return
        self.deaths += 1
        blamed = sitting.blamed
        self._tell(MeasuredRun(run=_failed(blamed, _while(sitting, failure))))
        self._plan_batches(tuple(v for v in sitting.unfinished if v != blamed))

    def _sit(self, sitting: _Sitting, completions: Completions) -> Failure | None:
        """Why the child ended early; None where it was cancelled or every variant is finished."""
        with MeasuringChild(self._spec(sitting.batch), program=self.program) as child:
            planned = planned_s(self.plan, self.request.workload, variants=len(sitting.batch))
            watch = Watch(self.limits, planned, group=child.process.pid, directory=self.directory)
            try:
                while sitting.unfinished and not child.exited:
                    self._take(child.events(TICK_S), sitting, watch, completions)
                    self._tell_all(completions.done())
                    if self._is_cancelled():
                        return None
                    if failure := watch.excess(child.printed_bytes):
                        return failure
                if sitting.unfinished:
                    self._take(child.last_events(), sitting, watch, completions)
            except ProtocolError as error:
                return Failure(kind=FailureKind.INTERNAL, message=str(error))
            return child.death() if sitting.unfinished else None

    def _spec(self, batch: tuple[str, ...]) -> MeasureSpec:
        return MeasureSpec(
            workload=self.request.workload,
            variants=batch,
            plan=self.plan,
            device=self.device,
            directory=str(self.directory),
            events_fd=-1,
            ceilings=self.hearer.on_ceilings is not None and not self.ceilings_known,
            ceilings_known=self.known_environments,
            windows_known=self.windows_known,
            twins=self.twins,
            silence_s=self.limits.silence_s,
        )

    def _take(self, events: Iterator[Event], sitting: _Sitting, watch: Watch, completions: Completions) -> None:
        for event in events:
            watch.hear()
            sitting.take(event)
            if isinstance(event, Started):
                self._learn(event.environment)
            elif isinstance(event, CeilingsMeasured):
                self._learn_ceilings(event.ceilings)
            elif isinstance(event, Progress):
                self.hearer.on_progress(event)
            else:
                run = checked(event.run, self.request.workload, self.environment)
                self._learn_window(run)
                completions.add(msgspec.structs.replace(event, run=run))

    def _learn(self, environment: Environment) -> None:
        if self.environment is None:
            self.environment = environment
            self.hearer.on_environment(environment)

    def _learn_ceilings(self, ceilings: Ceilings) -> None:
        if self.hearer.on_ceilings is not None and not self.ceilings_known:
            self.ceilings_known = True
            self.hearer.on_ceilings(ceilings)

    def _learn_window(self, run: Run) -> None:
        """For the trial's next child too: an isolated plan has one for each variant."""
        if run.conditions is not None and run.conditions.window_ns is not None and self.environment is not None:
            self.window_ns = run.conditions.window_ns
            self.windows_known[self.environment.digest] = self.window_ns

    def _settle(self, completions: Completions) -> None:
        """Wait for the parser before the next child: the device is free, and no time is taken while it parses."""
        while completions.pending and not self._is_cancelled():
            self._tell_all(completions.done(TICK_S))

    def _tell_all(self, completions: list[Completion]) -> None:
        for completion in completions:
            run = completion.measured.run
            if completion.lost is None:
                self._tell(completion.measured)
            elif run.variant in self.again:
                lost = trace_lost(run, f"{completion.lost} (twice, the second in a new process)")
                self._tell(MeasuredRun(run=lost, artefact_paths=completion.measured.artefact_paths))
            else:
                self.again.add(run.variant)
                self.batches.append((run.variant,))

    def _tell(self, measured: MeasuredRun) -> None:
        self.told[measured.run.variant] = measured.run
        self.hearer.on_run(measured)

    def _fail_to_start(self, sitting: _Sitting, failure: Failure) -> None:
        """The first child's failure is the trial's; a later one's is that of the variants that it should measure."""
        if self.environment is None:
            raise TrialError(failure.kind, f"the measuring process did not start: {failure.message}")
        message = f"no new measuring process started: {failure.message}"
        for variant in sitting.unfinished:
            self._tell(MeasuredRun(run=_failed(variant, Failure(kind=failure.kind, message=message))))

    def _cancel_rest(self, completions: Completions) -> None:
        self._tell_all(completions.done())
        for variant in self.request.variants:
            if variant not in self.told:
                self._tell(MeasuredRun(run=Run(variant=variant, status=RunStatus.CANCELLED)))


@dataclass(slots=True)
class _Sitting:
    """What one child has said so far."""

    batch: tuple[str, ...]
    started: bool = False
    last: Progress | None = None
    finished: set[str] = field(default_factory=set)

    def take(self, event: Event) -> None:
        """ProtocolError where the child speaks of a variant that it was not given, or ends one twice."""
        if isinstance(event, Started | CeilingsMeasured):
            self.started = True
            return
        variant = event.run.variant if isinstance(event, Finished) else event.variant
        if variant not in self.unfinished:
            raise ProtocolError(
                f"the child spoke of variant {variant!r}, of {self.batch!r} finished are {self.finished!r}"
            )
        if isinstance(event, Finished):
            self.finished.add(variant)
        else:
            self.last = event

    @property
    def unfinished(self) -> tuple[str, ...]:
        return tuple(variant for variant in self.batch if variant not in self.finished)

    @property
    def blamed(self) -> str:
        """The variant that the child was at when it died: each death ends one, so a poisonous trial ends too."""
        if self.last is not None and self.last.variant in self.unfinished:
            return self.last.variant
        return self.unfinished[0]


def _while(sitting: _Sitting, failure: Failure) -> Failure:
    """`killed by SIGSEGV` → `killed by SIGSEGV while being timed`."""
    at = sitting.last
    if at is None or at.variant != sitting.blamed:
        return failure
    head, colon, rest = failure.message.partition(":")
    return Failure(kind=failure.kind, message=f"{head} while {DOING[at.phase]}{colon}{rest}")


def _failed(variant: str, failure: Failure) -> Run:
    return Run(variant=variant, status=RunStatus.FAILED, failure=failure)
