"""Whole trials, measured in children as a worker does, of which a check wants the runs alone."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from profiles.job import TrialRequest
from profiles.plan import Plan
from profiles.results import Run
from profiles.supervisor import measure_trial


def measured(request: TrialRequest, *, device: torch.device, plan: Plan) -> tuple[Run, ...]:
    with TemporaryDirectory(prefix="fusescope-") as directory:
        return measure_trial(
            request,
            plan=plan,
            device=str(device),
            directory=Path(directory),
            on_progress=lambda _: None,
            on_environment=lambda _: None,
            on_run=lambda _: None,
            cancelled=lambda: False,
        ).runs
