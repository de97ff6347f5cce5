"""The same job from a terminal, where the command line can say it."""

from __future__ import annotations

import shlex

from app.forms import sweep
from profiles import presets
from profiles.job import JobRequest, TrialRequest


def submit_command(request: JobRequest) -> str | None:
    """`fusescope submit …`, or None for sweeps, own choices and plans that only the form and the API can say."""
    if request.preset is None:
        return None
    usual = presets.request(request.preset, device=request.device)
    if len(usual.trials) != len(request.trials) or not _same_plan(request, usual):
        return None
    words = [f"fusescope submit {request.preset}", f"--device {request.device}"]
    words += [f"--set {shlex.quote(setting)}" for setting in _settings(request, usual)]
    if request.plan.samples != usual.plan.samples:
        words.append(f"--samples {request.plan.samples}")
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


def _same_plan(request: JobRequest, usual: JobRequest) -> bool:
    return (request.plan.cache, request.plan.order, request.plan.budget_s, request.plan.steps) == (
        usual.plan.cache,
        usual.plan.order,
        usual.plan.budget_s,
        usual.plan.steps,
    )
