"""Runs: stored once, by the attempt that owns the trial, and read back whole."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.errors import IllegalMove, NotFound
from db.locking import one_import_at_a_time
from db.models import EnvironmentRow, RunRow, TraceRow, TrialRow
from db.ownership import owned_row
from db.run_rows import environment_id, insert_run, load_runs, run_digest
from db.session import Database
from db.store import TraceStore
from db.traces import StoredTrace
from profiles.environment import Environment
from profiles.results import Failure, Run, RunStatus


@dataclass(frozen=True, slots=True)
class TextFiles:
    """What a run left beside its trace, and where it is kept."""

    store: TraceStore
    paths: tuple[Path, ...]

    def put(self) -> None:
        """Those that are there stay as they are."""
        for path in self.paths:
            self.store.put_artefact(path)


def store_run(
    db: Database,
    *,
    trial_id: int,
    worker: str,
    attempt: int,
    run: Run,
    environment: Environment | None,
    trace: StoredTrace | None = None,
    files: TextFiles | None = None,
) -> int | None:
    """The run's id; None where the trial is no longer this attempt's, and nothing was stored. `files` are put already,
    and once more where they were swept meanwhile, as files that no run names.

    The same run again gives the same id, so that a worker may repeat a call whose answer it lost; another run of the
    same variant is an IllegalMove.
    """
    with db.begin() as session:
        if files is not None and files.paths:
            one_import_at_a_time(session)
        trial = owned_row(session, TrialRow, trial_id, worker=worker, attempt=attempt)
        if trial is None:
            return None
        if files is not None:
            files.put()
        return add_run(session, trial, run, environment=environment, trace=trace)


def run(db: Database, run_id: int) -> Run:
    """NotFound where there is none."""
    with db.read() as session:
        found = load_runs(session, [run_id])
    if run_id not in found:
        raise NotFound(f"there is no run {run_id}")
    return found[run_id]


def add_run(
    session: Session, trial: TrialRow, run: Run, *, environment: Environment | None, trace: StoredTrace | None = None
) -> int:
    """`store_run` within a transaction that holds the trial."""
    if run.variant not in trial.variants:
        raise IllegalMove(f"trial {trial.id} has no variant {run.variant!r}; it has {', '.join(trial.variants)}")
    digest = run_digest(run, workload=trial.workload, plan=trial.plan, environment=environment)
    there = session.scalar(select(RunRow).where(RunRow.trial_id == trial.id, RunRow.variant == run.variant))
    if there is not None:
        if there.digest != digest:
            raise IllegalMove(f"trial {trial.id} has a run of {run.variant!r} already")
        return there.id
    return insert_run(
        session,
        run,
        trial_id=trial.id,
        digest=digest,
        environment_id=environment_id(session, environment),
        trace_id=_trace_id(session, trace),
    )


def close_runs(session: Session, trial: TrialRow, status: RunStatus, failure: Failure | None) -> None:
    """Give every variant of an ended trial that has no run one that says why, so that nothing is left open."""
    environment = _environment(session, trial.id)
    for variant in unmeasured(session, trial):
        add_run(session, trial, Run(variant=variant, status=status, failure=failure), environment=environment)


def unmeasured(session: Session, trial: TrialRow) -> tuple[str, ...]:
    stored = set(session.scalars(select(RunRow.variant).where(RunRow.trial_id == trial.id)))
    return _without(trial.variants, stored)


def _without(variants: Iterable[str], stored: set[str]) -> tuple[str, ...]:
    return tuple(variant for variant in variants if variant not in stored)


def _trace_id(session: Session, trace: StoredTrace | None) -> int | None:
    if trace is None:
        return None
    return session.execute(select(TraceRow.id).where(TraceRow.sha256 == trace.sha256)).scalar_one()


def _environment(session: Session, trial_id: int) -> Environment | None:
    """The one that the trial's other runs were measured in; None where there is no other run."""
    query = (
        select(EnvironmentRow.record)
        .join(RunRow, RunRow.environment_id == EnvironmentRow.id)
        .where(RunRow.trial_id == trial_id)
        .order_by(RunRow.id.desc())
        .limit(1)
    )
    return session.scalar(query)
