"""The runs of a bundle: checked against what this version knows, then stored where they are new."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.ceilings import keep_ceilings
from db.errors import Unstorable
from db.models import RunRow, TraceRow, TrialRow
from db.run_rows import check_storable, environment_id, insert_run, run_digest
from db.views import TrialStatus
from profiles import catalog
from profiles.bundle import Bundle, BundleError
from profiles.ceilings import CeilingsError, check_ceilings
from profiles.results import Results, Run, Trial
from profiles.variant import VariantError, parse_variant

Place = tuple[int, int, int]  # results, trial, run: where the bundle has it
DEVICE = re.compile(r"[a-z]{1,16}(:\d{1,3})?")
LONGEST_VARIANT = 255
AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRun:
    """A run of the bundle, and where it is stored now."""

    run_id: int
    trial_id: int
    variant: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRuns:
    stored: Mapping[Place, ImportedRun]
    new: int

    @property
    def known(self) -> int:
        return len(self.stored) - self.new


def check_results(bundle: Bundle) -> None:
    """BundleError where this version could not show what the bundle holds."""
    for results in bundle.results:
        try:
            _check(results)
        except (catalog.CatalogError, CeilingsError, VariantError, Unstorable) as error:
            raise BundleError(f"{bundle.path}: {error}") from error


def insert_results(session: Session, results: Sequence[Results]) -> ImportedRuns:
    """Runs that are known by their digest stay where they are; each trial that brings new ones becomes a new trial."""
    digests = {
        (r, t, n): run_digest(run, workload=trial.workload, plan=one.plan, environment=one.environment)
        for r, one in enumerate(results)
        for t, trial in enumerate(one.trials)
        for n, run in enumerate(trial.runs)
    }
    known = _known(session, set(digests.values()))
    stored = {place: known[digest] for place, digest in digests.items() if digest in known}
    for (r, t), places in _by_trial(place for place in digests if place not in stored).items():
        one, trial = results[r], results[r].trials[t]
        new_trial = _new_trial(one, trial, position=t, runs=[trial.runs[n] for _, _, n in places])
        session.add(new_trial)
        session.flush()
        for place in places:
            run = trial.runs[place[2]]
            stored[place] = _insert(
                session, run, new_trial.id, digests[place], environment_id(session, one.environment)
            )
    for one in results:
        if one.ceilings is not None:
            keep_ceilings(session, one.environment, one.ceilings)
    _link_traces(session, results, stored)
    return ImportedRuns(stored=stored, new=sum(digest not in known for digest in digests.values()))


def _check(results: Results) -> None:
    if not DEVICE.fullmatch(results.environment.device):
        raise VariantError(f"unknown device {results.environment.device!r}; expected 'cpu' or 'cuda'")
    if results.ceilings is not None:
        check_ceilings(results.ceilings)
    for trial in results.trials:
        catalog.operation(trial.workload.operation)
        catalog.check_workload(trial.workload)
        variants = [run.variant for run in trial.runs]
        for run in trial.runs:
            if len(run.variant) > LONGEST_VARIANT or not run.variant.isprintable():
                raise VariantError(f"{run.variant[:LONGEST_VARIANT]!r} is no variant's name")
            if variants.count(run.variant) > 1:
                raise VariantError(f"a trial of {trial.workload.operation} has two runs of {run.variant!r}")
            parse_variant(run.variant)
            check_storable(run)


def _known(session: Session, digests: set[str]) -> dict[str, ImportedRun]:
    """The first stored run of each digest."""
    found: dict[str, ImportedRun] = {}
    ordered = sorted(digests)
    for start in range(0, len(ordered), AT_ONCE):
        some = RunRow.digest.in_(ordered[start : start + AT_ONCE])
        first = select(func.min(RunRow.id)).where(some).group_by(RunRow.digest)
        for row in session.scalars(select(RunRow).where(RunRow.id.in_(first))):
            found[row.digest] = _imported(row.id, row.trial_id, row.variant, row.digest)
    return found


def _by_trial(places: Iterable[Place]) -> dict[tuple[int, int], list[Place]]:
    grouped: dict[tuple[int, int], list[Place]] = {}
    for place in places:
        grouped.setdefault(place[:2], []).append(place)
    return grouped


def _new_trial(results: Results, trial: Trial, *, position: int, runs: Iterable[Run]) -> TrialRow:
    """A trial that was measured elsewhere: it has no job, and no times that anything could be expected from."""
    return TrialRow(
        position=position,
        operation=trial.workload.operation,
        workload=trial.workload,
        variants=tuple(run.variant for run in runs),
        plan=results.plan,
        preset=results.preset,
        device=results.environment.device,
        status=TrialStatus.DONE,
    )


def _insert(session: Session, run: Run, trial_id: int, digest: str, environment: int | None) -> ImportedRun:
    run_id = insert_run(session, run, trial_id=trial_id, digest=digest, environment_id=environment, trace_id=None)
    return _imported(run_id, trial_id, run.variant, digest)


def _imported(run_id: int, trial_id: int, variant: str, digest: str) -> ImportedRun:
    return ImportedRun(run_id=run_id, trial_id=trial_id, variant=variant, digest=digest)


def _link_traces(session: Session, results: Sequence[Results], stored: Mapping[Place, ImportedRun]) -> None:
    """Give each run the trace that it names, where that is stored; also known runs that came without it before."""
    named = {imported.run_id: results[r].trials[t].runs[n].trace for (r, t, n), imported in stored.items()}
    hashes = sorted({sha256 for sha256 in named.values() if sha256 is not None})
    ids: dict[str, int] = {}
    for start in range(0, len(hashes), AT_ONCE):
        query = select(TraceRow.sha256, TraceRow.id).where(TraceRow.sha256.in_(hashes[start : start + AT_ONCE]))
        ids.update(session.execute(query).all())
    for run_id, sha256 in named.items():
        if sha256 in ids and (row := session.get(RunRow, run_id)) is not None:
            row.trace_id = ids[sha256]
