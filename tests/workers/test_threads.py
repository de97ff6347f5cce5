"""The worker's threads outlive whatever a database may answer."""

from __future__ import annotations

import os
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import text, update

from db.direct_imports import ReadFile, store_read_files
from db.imports import imported_trace
from db.jobs import cancel_job
from db.models import TraceRow
from db.session import Database, open_database
from db.settings import Settings
from db.store import TraceStore, file_sha256
from db.traces import read_file
from db.trials import beat
from db.workers import workers as registered_workers
from profiles.devices import cpu_device
from tests.db.examples import submit_and_claim
from tests.processes import wait_until
from workers.heart import Heart
from workers.pace import Pace
from workers.reaper import Reaper

PACE = Pace(beat_s=0.05, reap_s=0.05)
NAIVE = Path(__file__).parents[1] / "data" / "traces" / "cuda_naive.json.gz"


def test_a_reaper_goes_on_after_a_file_that_is_no_database(tmp_path: Path) -> None:
    file, whole = tmp_path / "fusescope.db", tmp_path / "whole.db"
    with closing(open_database(f"sqlite:///{whole}")) as db:
        db.upgrade()
    file.write_bytes(b"no database at all" * 100)
    settings = Settings(
        state=tmp_path,
        database_url=f"sqlite:///{file}",
        redis_url="redis://127.0.0.1:1/0",
        traces_url=(tmp_path / "traces").as_uri(),
    )
    reaper = Reaper(settings, worker="w1", capabilities=cpu_device(), pace=PACE)
    reaper.start()
    try:
        time.sleep(0.3)
        whole.replace(file)
        with closing(open_database(settings.database_url)) as db:
            assert wait_until(lambda: registered_workers(db), 5.0)
    finally:
        reaper.stop()


def test_a_reaper_removes_raw_traces_that_were_kept_long_enough_and_sweeps_files_of_no_row(tmp_path: Path) -> None:
    store = TraceStore((tmp_path / "traces").as_uri())
    settings = Settings(
        state=tmp_path,
        database_url=f"sqlite:///{tmp_path / 'fusescope.db'}",
        redis_url="redis://127.0.0.1:1/0",
        traces_url=(tmp_path / "traces").as_uri(),
        keep_raw_days=30.0,
    )
    with closing(open_database(settings.database_url)) as db:
        db.upgrade()
        read = read_file(NAIVE, tmp_path)
        import_id = store_read_files(db, store, [ReadFile(NAIVE, read)]).import_ids[0]
        orphan = store.put_artefact(_of_before(tmp_path))
        os.utime(tmp_path / "traces" / "artefacts" / orphan[:2] / f"{orphan}.txt", (0, 0))
        reaper = Reaper(settings, worker="w1", capabilities=None, pace=PACE)
        reaper.start()
        try:
            assert wait_until(lambda: not store.holds_artefact(orphan), 5.0)
            assert store.holds(file_sha256(NAIVE))
            with db.begin() as session:
                session.execute(update(TraceRow).values(stored_at=datetime.now(UTC) - timedelta(days=31)))
            assert wait_until(lambda: imported_trace(db, import_id).raw_removed_at is not None, 5.0)
            assert not store.holds(file_sha256(NAIVE))
        finally:
            reaper.stop()


def _of_before(directory: Path) -> Path:
    path = directory / "code"
    path.write_text("def kernel(): ...")
    return path


def test_a_heart_beats_on_after_its_table_was_away(database: Database) -> None:
    job, trial_id, attempt = submit_and_claim(database, "naive")
    with Heart(lambda: beat(database, trial_id, worker="w1", attempt=attempt), what="trial", pace=PACE) as heart:
        _rename(database, "trial", "away")
        try:
            time.sleep(0.3)
        finally:
            _rename(database, "away", "trial")
        cancel_job(database, job.id)
        assert wait_until(heart.cancel_requested.is_set, 5.0)


def _rename(database: Database, old: str, new: str) -> None:
    with database.begin() as session:
        session.execute(text(f"ALTER TABLE {old} RENAME TO {new}"))
