"""What a session says while it works, and whom it says to be at work."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from profiles.measure.candidate import Candidate, with_circumstances
from profiles.measure.forks import Spotlight
from profiles.measure.messages import Outbox, Timed
from profiles.protocol import Finished, Phase, Progress
from profiles.results import Run

EVERY_S = 0.2


class Reporter:
    """Reports within a phase come at most five times a second."""

    def __init__(self, spotlight: Spotlight, outbox: Outbox) -> None:
        self._spotlight, self._outbox = spotlight, outbox
        self._last = 0.0

    @contextmanager
    def phase(self, candidate: Candidate, phase: Phase) -> Iterator[None]:
        """Announce the phase, and its end unless it raises."""
        self.progress(candidate, phase, 0.0)
        with self.working_on(candidate):
            yield
        self.progress(candidate, phase, 1.0)

    @contextmanager
    def working_on(self, candidate: Candidate) -> Iterator[None]:
        """The spotlight tells whose fault it is should this process die; the time spent goes to the candidate."""
        self._spotlight.point_at(candidate.variant)
        start = time.monotonic()
        try:
            yield
        finally:
            candidate.spent_s += time.monotonic() - start

    def now_and_then(self, candidate: Candidate, phase: Phase, done: float) -> None:
        if time.monotonic() - self._last >= EVERY_S:
            self.progress(candidate, phase, done)

    def progress(self, candidate: Candidate, phase: Phase, done: float) -> None:
        self._last = time.monotonic()
        self._outbox.send(Progress(variant=candidate.variant, phase=phase, done=done, so_far=candidate.so_far))

    def finish(self, candidate: Candidate, run: Run, *, trace_file: str | None = None) -> None:
        self._outbox.send(Finished(run=with_circumstances(run, candidate), trace_file=trace_file))

    def timed(self, candidate: Candidate, run: Run) -> None:
        self._outbox.send(Timed(run=with_circumstances(run, candidate)))

    def traced_later(self, run: Run, *, trace_file: str | None = None) -> None:
        """A run that another process had timed."""
        self._outbox.send(Finished(run=run, trace_file=trace_file))

    def never_began(self, run: Run) -> None:
        """A variant that could not even be built."""
        self._outbox.send(Finished(run=run))
