"""The worker's threads outlive whatever a database may answer."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

from sqlalchemy import text

from db.jobs import cancel_job
from db.session import Database, open_database
from db.settings import Settings
from db.trials import beat
from db.workers import workers as registered_workers
from profiles.devices import cpu_device
from tests.db.examples import submit_and_claim
from tests.processes import wait_until
from workers.heart import Heart
from workers.pace import Pace
from workers.reaper import Reaper

PACE = Pace(beat_s=0.05, reap_s=0.05)


def test_a_reaper_goes_on_after_a_file_that_is_no_database(tmp_path: Path) -> None:
    file, whole = tmp_path / "fusescope.db", tmp_path / "whole.db"
    with closing(open_database(f"sqlite:///{whole}")) as db:
        db.upgrade()
    file.write_bytes(b"no database at all" * 100)
    settings = Settings(
        state=tmp_path, database_url=f"sqlite:///{file}", redis_url="redis://127.0.0.1:1/0", traces_url=""
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
