"""What a first start finds in an empty database, and a second one does not add."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from app.preparation import prepare_database
from db.bundles import export_comparison
from db.history import comparisons
from db.jobs import open_jobs, submit_job
from db.runs import store_run
from db.session import Database, open_database
from db.settings import Settings, read_settings
from db.store import TraceStore
from db.trials import claim_trial
from profiles import presets
from profiles.environment import Environment
from profiles.results import Run, RunStatus


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """No queue's server is there: a submitted job waits for the reaper."""
    return read_settings({}, state=tmp_path / "state")


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    """One sample, measured elsewhere."""
    elsewhere = read_settings({}, state=tmp_path / "elsewhere")
    directory = tmp_path / "samples"
    directory.mkdir()
    with closing(open_database(elsewhere.database_url)) as db:
        db.upgrade()
        export_comparison(db, TraceStore(elsewhere.traces_url), _measured(db), directory / "h200.fusescope")
    return directory


def _measured(db: Database) -> int:
    """A comparison with a run in it."""
    job = submit_job(db, presets.request("fusion-pairs", device="cuda"))
    trial = job.trials[0]
    attempt = claim_trial(db, trial.id, worker="somewhere")
    assert attempt is not None
    environment = Environment(device="cuda", device_name="H200", torch="2.11", python="3.12", platform="Linux")
    run = Run(variant=trial.variants[0], status=RunStatus.SUCCEEDED)
    store_run(db, trial_id=trial.id, worker="somewhere", attempt=attempt, run=run, environment=environment)
    return job.comparison_id


def test_an_empty_database_gets_the_samples_and_a_job_for_this_machine(settings: Settings, samples: Path) -> None:
    said: list[str] = []
    prepare_database(settings, device="cpu", say=said.append, samples=samples)
    with closing(open_database(settings.database_url)) as db:
        assert [comparison.name for comparison in comparisons(db).items] == ["Attention ladder", "Fusion pairs"]
        (job,) = open_jobs(db)
        assert (job.request.preset, job.request.device) == ("attention-ladder", "cpu")
    assert said == ["First start: measuring Attention ladder on cpu; the pages show it as it comes in"]


def test_a_second_start_adds_nothing(settings: Settings, samples: Path) -> None:
    said: list[str] = []
    prepare_database(settings, device="cpu", say=said.append, samples=samples)
    prepare_database(settings, device="cpu", say=said.append, samples=samples)
    with closing(open_database(settings.database_url)) as db:
        assert comparisons(db).total == 2
    assert len(said) == 1


def test_a_broken_sample_is_named_and_left_out(settings: Settings, samples: Path) -> None:
    (samples / "broken.fusescope").write_bytes(b"no zip")
    said: list[str] = []
    prepare_database(settings, device="cpu", say=said.append, samples=samples)
    assert said[0].startswith("the sample broken.fusescope was left out: ")
    with closing(open_database(settings.database_url)) as db:
        assert comparisons(db).total == 2


def test_without_samples_the_job_is_submitted_all_the_same(settings: Settings, tmp_path: Path) -> None:
    prepare_database(settings, device="cpu", say=print, samples=tmp_path / "none")
    with closing(open_database(settings.database_url)) as db:
        assert [job.request.name for job in open_jobs(db)] == ["Attention ladder"]


def test_where_nothing_can_be_measured_no_job_waits_for_ever(settings: Settings, samples: Path) -> None:
    prepare_database(settings, device=None, say=print, samples=samples)
    with closing(open_database(settings.database_url)) as db:
        assert [comparison.name for comparison in comparisons(db).items] == ["Fusion pairs"]
        assert open_jobs(db) == ()
