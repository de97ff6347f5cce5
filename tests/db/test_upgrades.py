"""A database of an earlier revision, made by that version: upgraded, nothing in it is lost or becomes another."""

from __future__ import annotations

import gzip
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import column, func, insert, inspect, select, text
from sqlalchemy import table as lightweight

from db.bundles import export_comparison, import_bundle
from db.comparisons import comparison
from db.direct_imports import ReadFile, store_read_files
from db.jobs import job
from db.models import EnvironmentRow, Row, RunRow, TrialRow
from db.run_rows import load_runs, run_digest
from db.session import Database, open_database
from db.store import TraceStore
from db.traces import read_file
from profiles.bundle import read_bundle
from tests.db.examples import failed, measured, refused

OLD = Path(__file__).parents[1] / "data" / "revision-0001"
BUNDLE = OLD / "attention-ladder.fusescope"
TRACE = Path(__file__).parents[1] / "data" / "traces" / "cuda_naive.json.gz"


@pytest.fixture
def old(database_url: str, tmp_path: Path) -> Iterator[Database]:
    """As version 0.1 left it: the shipped ladder imported, and a job measured there."""
    path = tmp_path / "old.db"
    with gzip.open(OLD / "database.db.gz") as packed, path.open("wb") as unpacked:
        shutil.copyfileobj(packed, unpacked)
    source = open_database(f"sqlite:///{path}")
    if database_url.startswith("sqlite"):
        yield source
    else:
        target = open_database(database_url)
        target._migrate("upgrade", "0001")
        _copy(source, target)
        yield target
        target.close()
    source.close()


def _copy(source: Database, target: Database) -> None:
    """Row by row, with the columns that there were."""
    there = inspect(target.engine)
    with source.engine.connect() as reading, target.engine.begin() as writing:
        for table in Row.metadata.sorted_tables:
            if not there.has_table(table.name):
                continue
            names = [one["name"] for one in there.get_columns(table.name)]
            rows = reading.execute(select(*(table.columns[name] for name in names))).mappings().all()
            if rows:
                as_it_was = lightweight(table.name, *(column(name, table.columns[name].type) for name in names))
                writing.execute(insert(as_it_was), [dict(row) for row in rows])
            if "id" in names:
                last = f"SELECT setval('{table.name}_id_seq', (SELECT coalesce(max(id), 0) + 1 FROM {table.name}))"  # noqa: S608
                writing.execute(text(last))


@pytest.fixture
def store(tmp_path: Path) -> TraceStore:
    return TraceStore((tmp_path / "traces").as_uri())


def runs(database: Database) -> int:
    with database.read() as session:
        return session.scalar(select(func.count()).select_from(RunRow)) or 0


def test_what_was_stored_reads_back_after_an_upgrade(old: Database) -> None:
    old.upgrade()
    old.check_version()
    bundle = read_bundle(BUNDLE)
    assert tuple(entry.run for entry in comparison(old, 1).entries) == bundle.results[0].trials[0].runs
    here = comparison(old, job(old, 1).comparison_id)
    assert [entry.run for entry in here.entries if entry.variant != "sdpa_math"] == [
        measured("naive"),
        refused("sdpa_cudnn"),
        failed("sdpa_flash"),
    ]
    assert {entry.ceilings for entry in comparison(old, 1).entries} == {None}


def test_every_run_is_known_by_what_it_says_after_an_upgrade(old: Database) -> None:
    old.upgrade()
    query = (
        select(RunRow, TrialRow, EnvironmentRow.record)
        .join(TrialRow, TrialRow.id == RunRow.trial_id)
        .join(EnvironmentRow, EnvironmentRow.id == RunRow.environment_id)
    )
    with old.read() as session:
        found = session.execute(query).all()
        said = load_runs(session, [row.id for row, _, _ in found])
        assert len(found) == 11
        for row, trial, environment in found:
            digest = run_digest(said[row.id], workload=trial.workload, plan=trial.plan, environment=environment)
            assert row.digest == digest, row.variant


def test_a_bundle_that_was_imported_before_the_upgrade_brings_nothing_new(old: Database, store: TraceStore) -> None:
    old.upgrade()
    before = runs(old)
    outcome = import_bundle(old, store, BUNDLE)
    assert (outcome.comparison_ids, outcome.runs_new, outcome.runs_known) == ((1,), 0, 7)
    assert runs(old) == before


def test_what_was_measured_before_the_upgrade_is_known_when_it_comes_back(
    old: Database, store: TraceStore, tmp_path: Path
) -> None:
    old.upgrade()
    shown = job(old, 1).comparison_id
    export_comparison(old, store, shown, tmp_path / "x")
    outcome = import_bundle(old, store, tmp_path / "x")
    assert (outcome.comparison_ids, outcome.runs_new) == ((shown,), 0)


def test_a_version_before_imported_traces_finds_its_runs_after_a_downgrade(old: Database, store: TraceStore) -> None:
    old.upgrade()
    shown = comparison(old, 1)
    with tempfile.TemporaryDirectory() as directory:
        read = read_file(TRACE, Path(directory))
    stored = store_read_files(old, store, [ReadFile(TRACE, read)])
    old.downgrade("0002")
    with old.engine.connect() as connection:
        kept = connection.execute(text("SELECT count(*) FROM comparison WHERE id = :id"), {"id": stored.comparison_id})
        assert kept.scalar_one() == 0
    old.upgrade()
    assert comparison(old, 1) == shown
    assert runs(old) == 11
