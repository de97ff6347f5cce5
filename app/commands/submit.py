"""`fusescope submit`: store a preset as a job and send it to the queue; `--wait` watches it to its end."""

from __future__ import annotations

import argparse
import logging
import sys
import time

from app.commands import request, stored
from app.commands.command import Exit
from app.commands.outcome import exit_code
from app.commands.output import print_json
from app.commands.variant_table import described
from db.comparisons import comparison
from db.jobs import job, submit_job
from db.session import Database
from db.views import ComparisonView, JobStatus, JobView
from profiles.comparison.entry import sections
from profiles.comparison.speed import By
from profiles.reports import Submitted
from workers.dispatch import publish_job

ERRORS = (*stored.ERRORS, *request.ERRORS)
OPEN = (JobStatus.QUEUED, JobStatus.RUNNING)
POLL_S = 0.5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    request.add_request_arguments(parser)
    parser.add_argument("--name", help="what the job is called; else the preset's title")
    parser.add_argument("--wait", action="store_true", help="watch the job, then print what `compare` prints")
    stored.add_state_argument(parser)


def run(options: argparse.Namespace) -> Exit:
    wanted = request.build_request(options)
    logging.getLogger("workers").addHandler(logging.NullHandler())  # what it would log is said below, for people
    with stored.stored(options) as at:
        submitted = submit_job(at.database, wanted)
        published = publish_job(at.settings, submitted)
        ended = _wait(at.database, submitted) if options.wait else submitted
        seen = comparison(at.database, ended.comparison_id)
    if options.json:
        print_json(_report(ended, published=published))
    else:
        _describe(ended, seen, published=published)
    if not options.wait:
        return Exit.SUCCEEDED
    return Exit.FAILED if ended.status is not JobStatus.DONE else exit_code(seen.entries)


def _report(shown: JobView, *, published: bool) -> Submitted:
    return Submitted(
        job=shown.id,
        comparison=shown.comparison_id,
        trials=tuple(trial.id for trial in shown.trials),
        status=shown.status,
        published=published,
    )


def _describe(shown: JobView, seen: ComparisonView, *, published: bool) -> None:
    print(f"job {shown.id} is {shown.status}; its comparison is {shown.comparison_id}")
    if not published:
        print("the queue does not answer; a worker finds the job within a minute of its start", file=sys.stderr)
    if shown.status in OPEN:
        print(f"fusescope compare {shown.comparison_id} shows it as it comes in")
        return
    for section in sections(seen.entries):
        print("\n" + "\n".join(described(section, baseline=None, by=By.GPU_TIME)))


def _wait(database: Database, submitted: JobView) -> JobView:
    """Tells each change on standard error; an interruption leaves the job to its worker."""
    told: set[str] = set()
    while True:
        current = job(database, submitted.id)
        for line in _news(current):
            if line not in told:
                print(line, file=sys.stderr)
                told.add(line)
        if current.status not in OPEN:
            return current
        time.sleep(POLL_S)


def _news(current: JobView) -> list[str]:
    lines: list[str] = []
    for trial in current.trials:
        lines += [f"  {trial.workload.operation} on {trial.owner}"] if trial.owner else []
        lines += [f"  {one.variant}: {one.run.status}" for one in trial.progress if one.run is not None]
        lines += [f"  trial {trial.id}: {trial.failure.message}"] if trial.failure else []
    return [*lines, f"job {current.id}: {current.status}"]
