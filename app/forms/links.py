"""The address of New job that shows a request again, so that it can be changed."""

from __future__ import annotations

from collections.abc import Sequence

from app.forms import draft, sweep
from profiles.job import JobRequest, TrialRequest


def query(request: JobRequest) -> dict[str, str | list[str]]:
    """Query parameters as the form reads them; what is as the form has it anyway is left out.

    The axes of several trials of one operation become sweeps; a second operation keeps its defaults.
    """
    first = request.trials[0]
    operation = first.workload.operation
    same = [trial for trial in request.trials if trial.workload.operation == operation]
    given: dict[str, str | list[str]] = {"device": request.device}
    if request.preset is not None:
        given["preset"] = request.preset
    else:
        given |= {"preset": draft.OWN, "operation": operation}
    given |= {f"{operation}.{name}": text for name, text in _axes(same).items()}
    given |= {f"{operation}.dtype": str(first.workload.dtype), f"{operation}.variant": list(first.variants)}
    return given


def _axes(trials: Sequence[TrialRequest]) -> dict[str, str]:
    workloads = [trial.workload for trial in trials]
    if len(workloads) == 1:
        return draft.axis_texts(workloads[0])
    return {
        name: "" if _follows(name, trials) else sweep.written(list(dict.fromkeys(w.axes[name] for w in workloads)))
        for name in workloads[0].axes
    }


def _follows(name: str, trials: Sequence[TrialRequest]) -> bool:
    other = draft.FOLLOWS.get(name)
    return other is not None and all(t.workload.axes[name] == t.workload.axes.get(other) for t in trials)
