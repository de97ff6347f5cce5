"""The address of New job that shows a request again, so that it can be changed."""

from __future__ import annotations

from collections.abc import Sequence

from app.forms import draft, plan_text, sweep
from profiles.job import JobRequest, TrialRequest
from profiles.plan import Plan, Walk


def query(request: JobRequest) -> dict[str, str | list[str]]:
    """Query parameters as the form reads them.

    The axes of several trials of one operation become sweeps. An own choice has one operation: the first.
    """
    operations = list(dict.fromkeys(trial.workload.operation for trial in request.trials))
    given: dict[str, str | list[str]] = {"device": request.device, **_plan(request.plan)}
    if request.preset is not None:
        given["preset"] = request.preset
    else:
        operations = operations[:1]
        given |= {"preset": draft.OWN, "operation": operations[0]}
    for operation in operations:
        given |= _part(operation, [trial for trial in request.trials if trial.workload.operation == operation])
    return given


def _plan(plan: Plan) -> dict[str, str]:
    return {
        "cache": str(plan.cache),
        "order": str(plan.order),
        "samples": str(plan.samples),
        "budget": str(int(plan.budget_s)),
        "load": str(plan.load),
        "builds": str(plan.builds),
        "margin": plan_text.percent(plan.margin),
        "energy": "true" if plan.energy else "false",
        "deep": "true" if plan.deep else "false",
        **_walk(plan.walk),
    }


def _walk(walk: Walk | None) -> dict[str, str]:
    """A question that has a walk of its own is told that there is to be none."""
    if walk is None:
        return {"walk.axis": plan_text.NONE}
    return {"walk.axis": walk.axis, "walk.last": str(walk.last), "walk.step": str(walk.step)}


def _part(operation: str, trials: Sequence[TrialRequest]) -> dict[str, str | list[str]]:
    first = trials[0]
    axes = {f"{operation}.{name}": text for name, text in _axes(trials).items()}
    return {
        **axes,
        f"{operation}.dtype": str(first.workload.dtype),
        f"{operation}.variant": list(first.variants),
    }


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
