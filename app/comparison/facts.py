"""The head of a comparison: its name and one line of facts about how it came to be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import tzinfo
from html import escape

from app.formatting import moment, seconds
from app.forms import plan_text
from app.markup import page
from db.views import ComparedRun, ComparisonView
from profiles.comparison.entry import sections
from profiles.comparison.figures import workload_label
from profiles.comparison.speed import By
from profiles.environment import Environment
from profiles.plan import Load


def head_html(view: ComparisonView, *, zone: tzinfo, crumb: bool = True) -> str:
    trail = f'<div class="fs-crumb"><a href="history" target="_self">History</a> / {view.id}</div>' if crumb else ""
    items = "".join(f"<span>{fact}</span>" for fact in _facts(view, zone))
    return page(f'{trail}<h1 class="fs-title">{escape(view.name)}</h1><div class="fs-line">{items}</div>')


def _facts(view: ComparisonView, zone: tzinfo) -> list[str]:
    """As HTML: what was measured, where, with what, how and when."""
    entries = view.entries
    measured = [entry.measured_at for entry in entries if entry.measured_at is not None]
    when = moment(max(measured), zone) if measured else f"submitted {moment(view.created_at, zone)}"
    return [
        *_subject(entries),
        *(
            escape(word)
            for word in [*_machines(entries), *_hosts(entries), *_plans(entries), when, *_duration(entries)]
        ),
    ]


def _subject(entries: Sequence[ComparedRun]) -> list[str]:
    grouped = sections(entries)
    operations = _distinct(entry.workload.operation for entry in entries)
    names = ", ".join(f"<code>{escape(name)}</code>" for name in operations)
    label = workload_label(grouped[0][0].workload) if len(grouped) == 1 else f"{len(grouped)} workloads"
    return [names, escape(label)]


def _machines(entries: Sequence[ComparedRun]) -> list[str]:
    found = _distinct(entry.environment.digest for entry in entries if entry.environment)
    if len(found) > 1:
        return [f"{len(found)} environments"]
    return next((_versions(entry.environment) for entry in entries if entry.environment), [])


def _versions(environment: Environment) -> list[str]:
    versions = [f"torch {environment.torch}"]
    if environment.device != "cpu" and environment.cudnn:
        versions.append(f"cuDNN {environment.cudnn}")
    return [environment.device_name, ", ".join(versions)]


def _hosts(entries: Sequence[ComparedRun]) -> list[str]:
    """Nothing where a shared link hides them."""
    conditions = [entry.run.conditions for entry in entries if entry.run is not None]
    return _distinct(found.host for found in conditions if found is not None and found.host is not None)


def _plans(entries: Sequence[ComparedRun]) -> list[str]:
    """The cache policy is that of the GPU time: a CPU has none. What is to come says nothing while others are known."""
    known = [entry for entry in entries if entry.environment is not None]
    policies = _distinct(_policy(entry) for entry in known or entries)
    return [*policies, *_distinct(words for entry in known or entries if (words := _precision(entry, entries)))]


def _policy(entry: ComparedRun) -> str:
    """A load that is kept up is said; bursts are the usual one."""
    on_cpu = entry.environment is not None and entry.environment.device == "cpu"
    cache = [] if on_cpu else [f"{entry.plan.cache} cache"]
    load = ["sustained load"] if entry.plan.load is Load.SUSTAINED else []
    return ", ".join([*cache, str(entry.plan.order), *load])


def _precision(entry: ComparedRun, entries: Sequence[ComparedRun]) -> str | None:
    """How many builds were timed, to tell which difference, within which time; None of what was timed in no builds."""
    timed = sorted({count for one in entries if one.plan == entry.plan for count in _builds(one)})
    if not timed and any(one.run is not None for one in entries):
        return None
    least = f"at least {entry.plan.builds}" if not timed else f"{timed[0]}"
    most = f"–{timed[-1]}" if len(timed) > 1 else ""
    margin, budget = plan_text.percent(entry.plan.margin), seconds(entry.plan.budget_s)
    return f"{least}{most} builds, margin {margin} %, {budget} budget"


def _builds(entry: ComparedRun) -> set[int]:
    """Of the times that every variant has on its kind of device."""
    timed = [entry.run.metric(by) for by in (By.GPU_TIME, By.CALL_TIME)] if entry.run is not None else []
    return {len(set(metric.builds)) for metric in timed if metric is not None and metric.builds}


def _duration(entries: Sequence[ComparedRun]) -> list[str]:
    """What measuring took, all runs together; nothing where a run does not tell."""
    conditions = [entry.run.conditions for entry in entries if entry.run is not None]
    spent = [found.duration_s for found in conditions if found is not None and found.duration_s is not None]
    return [seconds(sum(spent))] if spent else []


def _distinct(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))
