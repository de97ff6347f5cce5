"""How far a measurement is, on standard error: one line that is rewritten on a terminal, else a line per event."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TextIO

from profiles.comparison.figures import prose_time
from profiles.protocol import Phase, Progress
from profiles.results import Run

DOING = {
    Phase.BUILD: "building",
    Phase.ELIGIBLE: "trying",
    Phase.FIRST_CALL: "first call",
    Phase.VISITED: "timing first visits",
    Phase.CORRECT: "checking",
    Phase.TIMED: "timing",
    Phase.TRACED: "tracing",
}
CLEAR = "\r\x1b[2K"


@dataclass(slots=True)
class ProgressLines:
    stream: TextIO
    _told: set[tuple[str, Phase]] = field(default_factory=set, init=False)

    def begin(self, line: str) -> None:
        self._told.clear()
        self._say(line)

    def progress(self, progress: Progress) -> None:
        if self.stream.isatty():
            share = f" {progress.done:.0%}" if 0 < progress.done < 1 else ""
            self._rewrite(f"  {progress.variant}: {DOING[progress.phase]}{share}  {progress.so_far or ''}".rstrip())
        elif (progress.variant, progress.phase) not in self._told:
            self._told.add((progress.variant, progress.phase))
            self._say(f"  {progress.variant}: {DOING[progress.phase]}")

    def run(self, run: Run) -> None:
        self._say(f"  {run.variant}: {_outcome(run)}")

    def _say(self, line: str) -> None:
        self._rewrite(f"{line}\n")

    def _rewrite(self, text: str) -> None:
        self.stream.write((CLEAR if self.stream.isatty() else "") + text)
        self.stream.flush()


def _outcome(run: Run) -> str:
    if run.failure is not None:
        return f"{run.status}: {run.failure.message}"
    metric = run.metric("gpu_time") or run.metric("call_time")
    return str(run.status) if metric is None else f"{run.status}, {prose_time(metric.value)}"
