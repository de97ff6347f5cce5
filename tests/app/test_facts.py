"""The line of facts under a comparison's name."""

from __future__ import annotations

import re
from datetime import UTC
from pathlib import Path

import msgspec

from app.comparison.facts import head_html
from db.comparisons import comparison
from db.jobs import submit_job
from db.session import Database
from profiles import presets
from profiles.plan import Load, Plan
from profiles.results import Run
from tests.app.charts.stored import store_job
from tests.profiles.comparison.ladder import H200, WORKLOAD, ladder_runs


def facts(database: Database, comparison_id: int) -> list[str]:
    html = head_html(comparison(database, comparison_id), zone=UTC)
    return [re.sub("<[^>]+>", "", item) for item in re.findall("<span>(.*?)</span>", html)]


def in_builds(run: Run, builds: int | None) -> Run:
    """Its times as if taken in so many builds, a sample each."""
    metrics = tuple(
        msgspec.structs.replace(m, samples=(m.value,) * builds, builds=tuple(range(builds)))
        if builds
        else msgspec.structs.replace(m, builds=None)
        for m in run.metrics
    )
    return msgspec.structs.replace(run, metrics=metrics)


def test_a_job_that_waits_says_what_its_plan_asks_for(sqlite_database: Database) -> None:
    request = presets.request("attention-ladder", device="cuda")
    plan = Plan(builds=12, margin=0.007, budget_s=90.0, load=Load.SUSTAINED)
    made = submit_job(sqlite_database, msgspec.structs.replace(request, plan=plan)).comparison_id
    shown = facts(sqlite_database, made)
    assert "cold cache, interleaved, sustained load" in shown
    assert "at least 12 builds, margin 0.7 %, 1 min 30 s budget" in shown


def test_what_was_measured_says_in_how_many_builds(sqlite_database: Database, tmp_path: Path) -> None:
    first, second, *others = (in_builds(run, None) for run in ladder_runs())
    runs = (in_builds(first, 24), in_builds(second, 8), *others)
    made = store_job(sqlite_database, tmp_path, [(WORKLOAD, runs)], environment=H200).comparison_id
    assert "8–24 builds, margin 0.5 %, 1 min budget" in facts(sqlite_database, made)


def test_what_was_measured_before_there_were_builds_says_none(sqlite_database: Database, tmp_path: Path) -> None:
    runs = [in_builds(run, None) for run in ladder_runs()]
    made = store_job(sqlite_database, tmp_path, [(WORKLOAD, runs)], environment=H200).comparison_id
    shown = facts(sqlite_database, made)
    assert "cold cache, interleaved" in shown
    assert not any("build" in fact for fact in shown)
