"""A number that stood in an address is never given again, also by a database that began to keep this only later."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import delete, func, inspect, select, text
from sqlalchemy.orm import Session

from db.comparisons import comparison
from db.direct_imports import DirectImport, ReadFile, store_read_files
from db.errors import DatabaseError
from db.import_removal import delete_import
from db.models import ComparisonRow, Row, RunArtefactRow, ShareLinkRow, TraceRow
from db.runs import store_run
from db.session import Database, open_database
from db.shares import look_up_link, make_link
from db.store import TraceStore, file_sha256
from db.traces import ReadTrace, StoredTrace, load_timeline_of, read_file
from profiles.compilation import Artefact
from tests.db.examples import CPU, measured, submit_and_claim

RECORDED = Path(__file__).parents[1] / "data" / "traces"
NAIVE, FLASH = RECORDED / "cuda_naive.json.gz", RECORDED / "cuda_sdpa_flash.json.gz"
CODE = "c" * 64
ARTEFACTS = tuple(Artefact(name="code.py", sha256=sha256, size_bytes=1) for sha256 in (CODE, CODE, "no\0hash" * 20))


@pytest.fixture(scope="module")
def reads() -> dict[Path, ReadTrace]:
    with tempfile.TemporaryDirectory() as directory:
        return {path: read_file(path, Path(directory)) for path in (NAIVE, FLASH)}


@pytest.fixture
def store(tmp_path: Path) -> TraceStore:
    return TraceStore((tmp_path / "traces").as_uri())


@pytest.fixture
def filled(database_url: str, store: TraceStore, reads: dict[Path, ReadTrace]) -> Iterator[Database]:
    """At revision 0004: two imports, one of them a run's trace too, a run with generated code, and links."""
    database = open_database(database_url)
    database.upgrade()
    imported = [imports(database, store, reads, path) for path in (NAIVE, FLASH)]
    for one in imported:
        make_link(database, one.comparison_id)
    run = msgspec.structs.replace(measured("naive"), artefacts=ARTEFACTS)
    _, trial_id, attempt = submit_and_claim(database, "naive")
    stored = StoredTrace(file_sha256(NAIVE))
    store_run(database, trial_id=trial_id, worker="w1", attempt=attempt, run=run, environment=CPU, trace=stored)
    database.downgrade("0004")
    yield database
    database.close()


def imports(database: Database, store: TraceStore, reads: dict[Path, ReadTrace], path: Path) -> DirectImport:
    return store_read_files(database, store, [ReadFile(path, reads[path])])


def rows(database: Database) -> dict[str, list[dict[str, Any]]]:
    """All of every table, whatever its columns."""
    with database.engine.connect() as connection:
        tables = sorted(set(inspect(connection).get_table_names()) - {"alembic_version"})
        found = {table: connection.execute(text(f"SELECT * FROM {table}")).mappings().all() for table in tables}  # noqa: S608
    return {table: sorted(map(dict, every), key=repr) for table, every in found.items()}


def shape(database: Database) -> dict[str, Any]:
    """Columns, indices and references of every table."""
    there = inspect(database.engine)
    return {
        table: (
            {column["name"]: (str(column["type"]), column["nullable"]) for column in there.get_columns(table)},
            sorted((index["name"], index["column_names"]) for index in there.get_indexes(table)),
            sorted((key["name"], key["referred_table"]) for key in there.get_foreign_keys(table)),
            sorted((one["name"], one["column_names"]) for one in there.get_unique_constraints(table)),
            there.get_pk_constraint(table)["constrained_columns"],
        )
        for table in there.get_table_names()
    }


def test_what_is_deleted_and_had_an_address_leaves_its_number_to_nobody(
    database: Database, store: TraceStore, reads: dict[Path, ReadTrace]
) -> None:
    first = imports(database, store, reads, NAIVE)
    token, link = make_link(database, first.comparison_id)
    with database.read() as session:
        trace_id = session.scalar(select(TraceRow.id)) or 0
    delete_import(database, store, first.import_ids[0])
    second = imports(database, store, reads, FLASH)
    _, later = make_link(database, second.comparison_id)
    assert second.comparison_id > first.comparison_id
    assert second.import_ids[0] > first.import_ids[0]
    assert later.id > link.id
    assert look_up_link(database, token) is None
    with database.read() as session:
        assert (session.scalar(select(TraceRow.id)) or 0) > trace_id


def test_every_row_of_before_is_there_after_an_upgrade(filled: Database) -> None:
    before = rows(filled)
    assert all(before[table] for table in ("comparison", "share_link", "compared_trace", "comparison_entry", "trace"))
    filled.upgrade()
    filled.check_version()
    after = rows(filled)
    assert after.pop("run_artefact") == [{"run_id": 1, "sha256": CODE}]
    assert {trace.pop("raw_removed_at") for trace in after["trace"]} == {None}
    assert after == before
    assert load_timeline_of(filled, 1).start_ns.size
    assert [trace.label for trace in comparison(filled, 2).traces] == ["cuda_sdpa_flash"]


def test_numbers_go_on_after_an_upgrade_from_the_highest_that_is_there(
    filled: Database, store: TraceStore, reads: dict[Path, ReadTrace]
) -> None:
    numbered = (ComparisonRow, ShareLinkRow, TraceRow)

    def highest(session: Session) -> list[int]:
        return [session.scalar(select(func.max(row.id))) or 0 for row in numbered]

    filled.upgrade()
    with filled.begin() as session:
        before = highest(session)
        session.execute(delete(ShareLinkRow))
    delete_import(filled, store, 2)
    again = imports(filled, store, reads, FLASH)
    make_link(filled, again.comparison_id)
    with filled.read() as session:
        assert all(now > then for now, then in zip(highest(session), before, strict=True))


def test_references_are_looked_at_again_after_an_upgrade(filled: Database) -> None:
    filled.upgrade()
    with pytest.raises(Exception, match=r"(?i)foreign key"), filled.begin() as session:
        session.execute(delete(ComparisonRow))


def test_a_downgrade_leaves_the_tables_of_before_and_all_their_rows(filled: Database, tmp_path: Path) -> None:
    before, made = rows(filled), shape(filled)
    filled.upgrade()
    filled.downgrade("0004")
    assert rows(filled) == before
    assert shape(filled) == made
    if filled.engine.dialect.name == "sqlite":
        fresh = open_database(f"sqlite:///{tmp_path / 'fresh.db'}")
        fresh._migrate("upgrade", "0004")
        assert shape(fresh) == made
        fresh.close()


def test_tables_number_as_their_models_say(sqlite_database: Database) -> None:

    with sqlite_database.engine.connect() as connection:
        query = text("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
        made: dict[str, str] = dict(connection.execute(query).all())
    once = {name for name, sql in made.items() if "AUTOINCREMENT" in sql}
    assert once == {
        table.name for table in Row.metadata.sorted_tables if table.dialect_options["sqlite"]["autoincrement"]
    }


def test_an_upgrade_that_would_leave_a_row_without_its_parent_changes_nothing(tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'test.db'}")
    database._migrate("upgrade", "0004")
    with database.engine.connect() as connection:
        connection.connection.cursor().execute("PRAGMA foreign_keys = OFF")
        with connection.begin():
            connection.execute(text("INSERT INTO comparison_entry VALUES (7, 0, 'A', 9, 'naive')"))
        connection.connection.cursor().execute("PRAGMA foreign_keys = ON")
    with pytest.raises(DatabaseError, match="of comparison_entry refers to a row of"):
        database.upgrade()
    with pytest.raises(DatabaseError, match="revision '0004'"):
        database.check_version()
    database.close()


def test_runs_name_each_text_file_that_could_be_there_once(database: Database) -> None:
    run = msgspec.structs.replace(measured("naive"), artefacts=ARTEFACTS)
    _, trial_id, attempt = submit_and_claim(database, "naive")
    run_id = store_run(database, trial_id=trial_id, worker="w1", attempt=attempt, run=run, environment=CPU)
    with database.read() as session:
        assert session.execute(select(RunArtefactRow.run_id, RunArtefactRow.sha256)).all() == [(run_id, CODE)]
