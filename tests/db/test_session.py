import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from sqlalchemy import select, text

from db import history
from db.clock import from_now, now
from db.errors import DatabaseError
from db.jobs import ended_jobs, submit_job
from db.models import WorkerRow
from db.session import Database, open_database
from db.views import JobStatus
from profiles.worker import Capabilities
from tests.db.examples import ladder

WRITERS, JOBS = 4, 4
CAPABILITIES = Capabilities(
    device="cpu", device_name="a CPU", memory_bytes=None, host="h", torch=None, packages={}, compiler=True
)


def test_four_writing_processes_and_a_reader_of_a_new_database_meet_no_lock(database_url: str) -> None:
    command = [sys.executable, "-W", "error", "-m", "tests.db.writer", database_url, str(JOBS)]
    writers = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(WRITERS)]
    reader = open_database(database_url)
    reader.upgrade()
    reads = 0
    while any(writer.poll() is None for writer in writers):
        history.comparisons(reader)
        ended_jobs(reader)
        reads += 1
        time.sleep(0.02)
    errors = [writer.communicate()[1] for writer in writers]
    assert [(writer.returncode, error) for writer, error in zip(writers, errors, strict=True)] == [(0, "")] * WRITERS
    assert reads > 0
    done = ended_jobs(reader, limit=WRITERS * JOBS)
    assert done.total == WRITERS * JOBS
    assert {job.status for job in done.items} == {JobStatus.DONE}
    reader.close()


def test_what_fails_half_way_is_not_stored(database: Database) -> None:
    def store_and_fail() -> None:
        with database.begin() as session:
            session.add(WorkerRow(name="w1", capabilities=CAPABILITIES))
            session.flush()
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        store_and_fail()
    with database.read() as session:
        assert session.scalar(select(WorkerRow)) is None


def test_a_reader_sees_one_state_while_others_write(database: Database) -> None:
    with database.read() as session:
        assert session.scalar(text("SELECT count(*) FROM job")) == 0
        writer = threading.Thread(target=submit_job, args=(database, ladder()))
        writer.start()
        writer.join(timeout=30)
        assert not writer.is_alive()
        assert session.scalar(text("SELECT count(*) FROM job")) == 0
    with database.read() as session:
        assert session.scalar(text("SELECT count(*) FROM job")) == 1


def test_the_clock_is_the_database_s_aware_and_in_utc(database: Database) -> None:
    with database.read() as session:
        here, later = session.execute(select(now(), from_now(90.5))).one()
    assert here.tzinfo is UTC
    assert abs(here - datetime.now(UTC)) < timedelta(seconds=5)
    assert timedelta(seconds=90) < later - here < timedelta(seconds=91)


def test_times_keep_their_microseconds_and_come_back_in_utc(database: Database) -> None:
    when = datetime(2026, 11, 28, 15, 22, 0, 123456, tzinfo=timezone(timedelta(hours=1)))
    with database.begin() as session:
        session.add(WorkerRow(name="w1", capabilities=CAPABILITIES, started_at=when))
    with database.read() as session:
        stored = session.execute(select(WorkerRow.started_at)).scalar_one()
    assert stored == when
    assert stored.tzinfo is UTC


def test_a_time_without_a_zone_is_refused(database: Database) -> None:
    naive = datetime(2026, 11, 28)  # noqa: DTZ001 (that is the point)
    with pytest.raises(Exception, match="has no time zone"), database.begin() as session:
        session.add(WorkerRow(name="w1", capabilities=CAPABILITIES, started_at=naive))


def test_enum_columns_hold_the_values_of_their_enums(database: Database) -> None:
    submit_job(database, ladder())
    with database.read() as session:
        assert session.scalar(text("SELECT status FROM trial")) == "queued"


def test_sqlite_journals_ahead_and_checks_foreign_keys(sqlite_database: Database) -> None:
    with sqlite_database.read() as session:
        assert session.scalar(text("PRAGMA journal_mode")) == "wal"
        assert session.scalar(text("PRAGMA foreign_keys")) == 1


def test_the_directory_of_a_new_sqlite_database_is_made(tmp_path: Path) -> None:
    open_database(f"sqlite:///{tmp_path / 'a' / 'b' / 'fusescope.db'}").close()
    assert (tmp_path / "a" / "b" / "fusescope.db").exists()


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("fusescope.db", "is no URL; expected 'sqlite:///…' or 'postgresql://…'"),
        ("mysql://localhost/x", "unknown database 'mysql'"),
        ("postgresql://nobody@127.0.0.1:1/x", "does not answer"),
    ],
)
def test_an_address_that_cannot_work_is_refused(url: str, message: str) -> None:
    with pytest.raises(DatabaseError, match=message):
        open_database(url)


def test_a_password_is_in_no_error() -> None:
    with pytest.raises(DatabaseError) as caught:
        open_database("postgresql://me:secret@127.0.0.1:1/x")
    assert "secret" not in str(caught.value)


def test_a_directory_that_cannot_hold_the_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DatabaseError, match="file"):
        open_database(f"sqlite:///{tmp_path / 'file' / 'fusescope.db'}")
