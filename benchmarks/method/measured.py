"""Whole trials, measured in children as a worker does, of which a check wants the runs alone."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from profiles.job import TrialRequest
from profiles.plan import Plan
from profiles.protocol import Progress
from profiles.results import Run
from profiles.supervisor import measure_trial


def _nobody(_: Progress) -> None:
    return None


def measured(
    request: TrialRequest, *, device: torch.device, plan: Plan, on_progress: Callable[[Progress], None] = _nobody
) -> tuple[Run, ...]:
    with TemporaryDirectory(prefix="fusescope-") as directory:
        return measure_trial(
            request,
            plan=plan,
            device=str(device),
            directory=Path(directory),
            on_progress=on_progress,
            on_environment=lambda _: None,
            on_run=lambda _: None,
            cancelled=lambda: False,
        ).runs


class Spent:
    """Where the time of a trial goes: whoever reports has been at work since the last report.

    What comes before the first report is the child's start; between phases lie whole processes, such as the one that
    finds out what two events hold.
    """

    def __init__(self) -> None:
        self._last, self._at = "start", time.monotonic()
        self._seconds: dict[str, float] = defaultdict(float)

    def hear(self, progress: Progress) -> None:
        self._until_now()
        self._last = f"{progress.phase} {progress.variant}" + (", over" if progress.done >= 1 else "")

    def seconds(self) -> dict[str, float]:
        """By phase and variant, `…, over` for what follows the end of a phase until the next report."""
        self._until_now()
        return {name: round(seconds, 2) for name, seconds in self._seconds.items()}

    def _until_now(self) -> None:
        now = time.monotonic()
        self._seconds[self._last] += now - self._at
        self._at = now
