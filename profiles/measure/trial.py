"""The first process of the child: it decides which process does what, and touches no device itself."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from profiles import catalog
from profiles.measure.beforehand import Beforehand
from profiles.measure.ceilings import tell_ceilings
from profiles.measure.failures import after_timing, failed
from profiles.measure.forks import Spotlight, run_in_fork
from profiles.measure.messages import Message, NewShape, Outbox, Passed, Timed, Trouble, Visiting, WindowMeasured
from profiles.measure.probe import probe
from profiles.measure.reporter import Reporter
from profiles.measure.scout import scout
from profiles.measure.session import Session
from profiles.measure.slow_imports import import_early
from profiles.measure.walk import walk
from profiles.measure.window import tell_window
from profiles.plan import Order
from profiles.protocol import DOING, CeilingsMeasured, Finished, MeasureSpec, Phase, Progress, Started
from profiles.results import FailureKind, Run

Work = Callable[[Sequence[str], Outbox], None]


class TrialError(RuntimeError):
    """Nothing can be measured, and no variant is to blame."""


class Trial:
    """Runs a spec: a scout, then a probe for each variant's first call, then a session with all of them.

    In an isolated plan each variant has one process for its first call and everything after. Where the plan has a walk,
    each variant makes it in a process of its own before the session.
    """

    def __init__(self, spec: MeasureSpec, events: Outbox) -> None:
        self._spec, self._events = spec, events
        self._spotlight = Spotlight(spec.variants)
        self._compile_caches = Path(spec.directory) / "compiled"
        self._beforehand = {variant: Beforehand() for variant in spec.variants}
        self._where: str | None = None
        self._timed: dict[str, Run] = {}
        self._phases: dict[str, Phase] = {}
        self._passed: set[str] = set()
        self._finished: set[str] = set()
        self._started = False
        self._window_ns: float | None = None
        self._environment: str | None = None
        self._trouble: Trouble | None = None

    def run(self) -> None:
        try:
            import_early(catalog.operation(self._spec.workload.operation).slow_imports)
            self._each_or_fail(self._spec.variants, self._scout)
            self._measure_window()
            self._measure_ceilings()
            isolated = self._spec.plan.order is Order.ISOLATED
            if not isolated:
                self._each_alone(self._probe)
            if self._spec.plan.walk is not None:
                self._each_alone(self._walk)
            if isolated:
                self._each_alone(self._measure)
            else:
                self._each_or_fail(self._spec.variants, self._measure)
        finally:
            shutil.rmtree(self._compile_caches, ignore_errors=True)

    def _scout(self, variants: Sequence[str], outbox: Outbox) -> None:
        scout(self._spec, variants, spotlight=self._spotlight, outbox=outbox)

    def _measure_window(self) -> None:
        """Unknown where it cannot be measured: samples then hold it, and nothing fails."""
        if self._environment in self._spec.windows_known:
            self._window_ns = self._spec.windows_known[self._environment]
        elif self._spec.device.startswith("cuda") and self._passed:
            run_in_fork(partial(tell_window, self._spec.device), receive=self._learn_window)

    def _learn_window(self, message: Message) -> None:
        if isinstance(message, WindowMeasured):
            self._window_ns = message.ns

    def _measure_ceilings(self) -> None:
        """A device whose ceilings cannot be measured has unknown ones: that is no variant's failure."""
        if self._spec.ceilings and self._passed and self._environment not in self._spec.ceilings_known:
            run_in_fork(
                partial(tell_ceilings, self._spec.device, self._window_ns or 0.0), receive=self._pass_ceilings_on
            )

    def _pass_ceilings_on(self, message: Message) -> None:
        if isinstance(message, CeilingsMeasured):
            self._events.send(message)

    def _probe(self, variants: Sequence[str], outbox: Outbox) -> None:
        for variant in variants:
            probe(
                self._spec,
                variant,
                compile_caches=self._compile_caches,
                spotlight=self._spotlight,
                outbox=outbox,
            )

    def _walk(self, variants: Sequence[str], outbox: Outbox) -> None:
        """With caches of compiled code of its own: what another process compiled would not be new."""
        for variant in variants:
            walk(
                self._spec,
                variant,
                compile_caches=self._compile_caches / "walk",
                spotlight=self._spotlight,
                outbox=outbox,
            )

    def _measure(self, variants: Sequence[str], outbox: Outbox) -> None:
        session = Session(
            self._spec,
            Reporter(self._spotlight, outbox),
            compile_caches=self._compile_caches,
            window_ns=self._window_ns,
        )
        session.trace({variant: self._timed[variant] for variant in variants if variant in self._timed})
        session.measure({variant: self._beforehand[variant] for variant in variants if variant not in self._timed})

    def _each_alone(self, work: Work) -> None:
        for variant in self._spec.variants:
            self._each_or_fail([variant], work)

    def _each_or_fail(self, variants: Sequence[str], work: Work) -> None:
        """Fork `work` until each variant has passed or finished.

        Where the process dies, the variant in the spotlight is failed and a new process takes the rest. TrialError
        where it ends without a variant to blame.
        """
        self._passed = set()
        while before := self._open(variants):
            self._spotlight.clear()
            self._where = None
            death = run_in_fork(partial(work, before), receive=self._receive, silence_s=self._spec.silence_s)
            trouble, self._trouble = self._trouble, None
            after = self._open(variants)
            if not after:
                return  # whatever it died of, it had said everything
            if trouble is not None:
                self._blame(trouble.message, trouble.kind)
            elif death is not None:
                self._blame(death, FailureKind.CRASHED)
            elif after == before:
                raise TrialError(f"a measuring process ended without a word about {', '.join(after)}")

    def _open(self, variants: Sequence[str]) -> list[str]:
        return [v for v in variants if v not in self._passed and v not in self._finished]

    def _blame(self, reason: str, kind: FailureKind) -> None:
        culprit = self._spotlight.variant
        if culprit is None or culprit in self._finished or not self._started:
            raise TrialError(reason)
        if self._where is not None:
            reason = f"at {self._where}: {reason}"
        elif kind is FailureKind.TIMEOUT and culprit in self._phases:
            reason = f"{reason} while {DOING[self._phases[culprit]]}"
        run = failed(culprit, kind, reason)
        self._receive(Finished(run=after_timing(self._timed[culprit], run) if culprit in self._timed else run))

    def _receive(self, message: Message) -> None:
        """Note what matters here; protocol events go on, the environment once."""
        match message:
            case Passed():
                self._pass(message)
                return
            case NewShape(variant=variant):
                self._beforehand[variant].new_shape = message
                return
            case Visiting(where=where):
                self._where = where
                return
            case Timed(run=run):
                self._timed[run.variant] = run
                return
            case Trouble():
                self._trouble = message
                return
            case Started(environment=environment):
                if self._started:
                    return
                self._started, self._environment = True, environment.digest
            case Progress(variant=variant, phase=phase):
                self._phases[variant] = phase
            case Finished(run=run):
                self._finished.add(run.variant)
        self._events.send(message)

    def _pass(self, passed: Passed) -> None:
        """Until it is known how the visit to a new shape went, its process may have died of it."""
        self._passed.add(passed.variant)
        known = self._beforehand[passed.variant]
        if passed.first_call_ns is not None:
            known.first_call_ns, known.compiled = passed.first_call_ns, passed.compiled
            known.new_shape = NewShape(variant=passed.variant, note="no new shape was visited: its process died there")
        if passed.walked is not None:
            known.walked = passed.walked
