"""Fills a database with a long history, through the functions that jobs and imports go through.

Of ten trials seven are measured by a worker and three imported. Only the times of jobs and comparisons are set
afterwards: by the database's clock all of them would be now.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import func, select, update

from benchmarks.history.imported import import_traces
from benchmarks.history.made import Made
from db import comparisons, jobs, shares, workers
from db.bundled_results import insert_results
from db.models import ComparisonRow, EntryRow, JobRow, RunRow
from db.runs import store_run
from db.session import Database
from db.trials import claim_trial, finish_trial
from db.views import TrialStatus
from profiles.job import JobRequest, TrialRequest
from profiles.worker import Capabilities

WORKERS = ("h200", "h100", "a100", "l40s", "mi300x", "epyc")
OPEN_JOBS = 5
EVERY_LINK = 20
TURN, IMPORTED = 10, (2, 5, 8)


def fill(db: Database, history: Iterable[Made], *, traces: int, seed: int = 0) -> None:
    for place, made in enumerate(history):
        comparison_id = _imported(db, made) if place % TURN in IMPORTED else _measured(db, made)
        if place % EVERY_LINK == 0:
            shares.make_link(db, comparison_id)
    import_traces(db, traces, seed=seed)
    _set_times(db)
    _announce(db)
    _send_jobs(db, made)
    _analyse(db)


def _imported(db: Database, made: Made) -> int:
    with db.begin() as session:
        stored = insert_results(session, [made.results]).stored
        entries = [(run.trial_id, run.variant) for run in stored.values()]
        return comparisons.insert_comparison(session, entries, name=made.name, created_by="import")


def _measured(db: Database, made: Made) -> int:
    job = jobs.submit_job(db, _request(made), submitted_by="bench")
    trial_id, worker = job.trials[0].id, WORKERS[job.id % len(WORKERS)]
    attempt = claim_trial(db, trial_id, worker=worker)
    assert attempt is not None
    for run in made.trial.runs:
        store_run(db, trial_id=trial_id, worker=worker, attempt=attempt, run=run, environment=made.environment)
    finish_trial(db, trial_id, worker=worker, attempt=attempt, status=TrialStatus.DONE)
    return job.comparison_id


def _request(made: Made) -> JobRequest:
    variants = tuple(run.variant for run in made.trial.runs)
    trial = TrialRequest(workload=made.trial.workload, variants=variants)
    return JobRequest(name=made.name, device=made.environment.device, trials=(trial,), plan=made.plan)


def _set_times(db: Database) -> None:
    """A comparison is as old as its runs, a job as its comparison."""
    shown = select(func.max(RunRow.measured_at)).join(EntryRow, EntryRow.trial_id == RunRow.trial_id)
    measured_at = shown.where(EntryRow.comparison_id == ComparisonRow.id).scalar_subquery()
    sent_at = select(ComparisonRow.created_at).where(ComparisonRow.job_id == JobRow.id).scalar_subquery()
    with db.begin() as session:
        session.execute(update(ComparisonRow).values(created_at=func.coalesce(measured_at, ComparisonRow.created_at)))
        session.execute(update(JobRow).values(submitted_at=sent_at))


def _announce(db: Database) -> None:
    for name in WORKERS:
        device = "cpu" if name == "epyc" else "cuda:0"
        able = Capabilities(
            device=device,
            device_name=name.upper(),
            memory_bytes=1 << 36,
            host=name,
            torch="2.11.0",
            packages={"triton": "3.6.0"},
            compiler=True,
        )
        workers.announce(db, name, able)


def _send_jobs(db: Database, made: Made) -> None:
    """One runs, the others wait."""
    sent = [jobs.submit_job(db, _request(made), submitted_by="bench") for _ in range(OPEN_JOBS)]
    claim_trial(db, sent[0].trials[0].id, worker=WORKERS[0])


def _analyse(db: Database) -> None:
    """What PostgreSQL does by itself within a minute."""
    if db.engine.dialect.name == "postgresql":
        with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("ANALYZE")
