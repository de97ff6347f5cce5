"""The same job from a terminal, where the command line can say it."""

from __future__ import annotations

import shlex

from app.forms import plan_text, sweep
from profiles import presets
from profiles.job import JobRequest, TrialRequest


def submit_command(request: JobRequest) -> str | None:
    """`fusescope submit …`, or None for sweeps and own choices, which only the form and the API can say."""
    if request.preset is None:
        return None
    usual = presets.request(request.preset, device=request.device)
    if len(usual.trials) != len(request.trials) or request.plan.steps != usual.plan.steps:
        return None
    words = [f"fusescope submit {request.preset}", f"--device {request.device}"]
    words += [f"--set {shlex.quote(setting)}" for setting in _settings(request, usual)]
    words += plan_text.options(request.plan, usual.plan)
    if any(asked.variants != known.variants for asked, known in _pairs(request, usual)):
        chosen = dict.fromkeys(variant for trial in request.trials for variant in trial.variants)
        words += [f"--variant {shlex.quote(variant)}" for variant in chosen]
    return " \\\n  ".join(words)


def _pairs(request: JobRequest, usual: JobRequest) -> list[tuple[TrialRequest, TrialRequest]]:
    return list(zip(request.trials, usual.trials, strict=True))


def _settings(request: JobRequest, usual: JobRequest) -> list[str]:
    changed = {
        f"{name}={sweep.written((value,))}": None
        for asked, known in _pairs(request, usual)
        for name, value in asked.workload.axes.items()
        if known.workload.axes.get(name) != value
    }
    dtypes = {
        f"dtype={asked.workload.dtype}": None
        for asked, known in _pairs(request, usual)
        if asked.workload.dtype != known.workload.dtype
    }
    return [*changed, *dtypes]
