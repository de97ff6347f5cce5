"""A comparison as the results of a bundle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from db.views import ComparedRun, ComparisonView
from profiles.bundle import BundledComparison, BundledEntry, BundledView
from profiles.ceilings import Ceilings
from profiles.comparison.judgement import with_comparisons
from profiles.environment import Environment
from profiles.plan import Plan
from profiles.results import Results, Run, Trial
from profiles.workload import Workload

# preset, plan, environment and its ceilings: what one `Results` has in common
Circumstances = tuple[str | None, Plan, Environment, Ceilings | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledResults:
    """`left_out` counts the entries that have no run, or no machine that they were measured on."""

    results: tuple[Results, ...]
    comparison: BundledComparison
    left_out: int


@dataclass(slots=True)
class _Trial:
    workload: Workload
    runs: list[Run] = field(default_factory=list)


@dataclass(slots=True)
class _Results:
    """The trials by their ids, in the order in which they come."""

    circumstances: Circumstances
    trials: dict[int, _Trial] = field(default_factory=dict)


def bundled(view: ComparisonView, presets: Mapping[int, str | None]) -> BundledResults:
    """`presets` are those of the trials, by id."""
    gathered: list[_Results] = []
    entries = [
        _gather(gathered, entry, entry.run, (presets[entry.trial_id], entry.plan, entry.environment, entry.ceilings))
        for entry in view.entries
        if entry.run is not None and entry.environment is not None
    ]
    return BundledResults(
        results=tuple(_results(one, view.name) for one in gathered),
        comparison=BundledComparison(name=view.name, entries=tuple(entries), view=_view(view)),
        left_out=len(view.entries) - len(entries),
    )


def _gather(gathered: list[_Results], entry: ComparedRun, run: Run, circumstances: Circumstances) -> BundledEntry:
    """Put the run where it belongs; the entry that points to it."""
    place = next((n for n, one in enumerate(gathered) if one.circumstances == circumstances), len(gathered))
    if place == len(gathered):
        gathered.append(_Results(circumstances))
    trials = gathered[place].trials
    trial = trials.setdefault(entry.trial_id, _Trial(entry.workload))
    trial.runs.append(run)
    position = list(trials).index(entry.trial_id)
    return BundledEntry(key=entry.key, results=place, trial=position, run=len(trial.runs) - 1)


def _results(gathered: _Results, name: str) -> Results:
    """With the trials' comparisons: they follow from the samples and are stored nowhere."""
    preset, plan, environment, ceilings = gathered.circumstances
    trials = tuple(Trial(workload=trial.workload, runs=tuple(trial.runs)) for trial in gathered.trials.values())
    results = Results(preset=preset, plan=plan, environment=environment, trials=trials, name=name, ceilings=ceilings)
    return with_comparisons(results, twins=any(run.twin for trial in trials for run in trial.runs))


def _view(view: ComparisonView) -> BundledView:
    return BundledView(base=view.view.base, by=view.view.by, lanes=view.view.lanes, zoom=view.view.zoom)
