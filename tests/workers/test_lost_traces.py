"""An attempt whose variant leaves a trace that cannot be read: its times are kept, of the trace nothing is."""

from __future__ import annotations

import gzip
from contextlib import closing
from pathlib import Path

import msgspec
from sqlalchemy import func, select

from db.jobs import submit_job
from db.models import TimelineChunkRow, TraceRow
from db.session import open_database
from db.settings import Settings
from db.trials import trial
from profiles.job import JobRequest, TrialRequest
from profiles.results import FailureKind, RunStatus
from profiles.supervisor import Limits
from tests.workers.conftest import STAND_IN, SWIGLU
from workers.attempt import Bench, attempt_trial

RECORDINGS = Path(__file__).parents[1] / "data" / "traces"


def test_a_trace_that_is_cut_short_or_too_large_leaves_nothing_and_a_good_one_beside_it_all(tmp_path: Path) -> None:
    good = RECORDINGS / "cpu_naive.json.gz"
    cut, large = tmp_path / "cut.json.gz", tmp_path / "large.json.gz"
    text = gzip.decompress(good.read_bytes())
    cut.write_bytes(gzip.compress(text[: len(text) // 2]))
    large.write_bytes(gzip.compress(text + b" " * 100_000_000))  # refused at 64 MiB: more than 200 to 1
    variants = {"unfused": good, "unfused@compile": cut, "unfused@compile-max-autotune": large}
    acts = tuple(f"{variant}=trace:{path}" for variant, path in variants.items())
    settings = Settings(
        state=tmp_path,
        database_url=f"sqlite:///{tmp_path / 'fusescope.db'}",
        redis_url="redis://127.0.0.1:1/0",
        traces_url=(tmp_path / "traces").as_uri(),
    )
    with closing(open_database(settings.database_url)) as db:
        db.upgrade()
        request = TrialRequest(workload=msgspec.structs.replace(SWIGLU, seed=0), variants=tuple(variants))
        trial_id = submit_job(db, JobRequest(name="Test", device="cpu", trials=(request,))).trials[0].id
        program = (*STAND_IN, *acts)
        attempt_trial(
            Bench(settings=settings, worker="w1", device="cpu", limits=Limits(time_s=60.0), program=program), trial_id
        )
        runs = [progress.run for progress in trial(db, trial_id).progress]
        with db.read() as session:
            stored = [session.scalar(select(func.count()).select_from(row)) for row in (TraceRow, TimelineChunkRow)]
    kept, unread, refused = runs
    assert kept is not None and unread is not None and refused is not None  # noqa: PT018
    assert kept.trace is not None
    assert (unread.trace, refused.trace) == (None, None)
    assert refused.failure is not None
    assert (refused.status, refused.failure.kind) == (RunStatus.FAILED, FailureKind.TRACE_LOST)
    assert "more than the limit of 200 to 1" in refused.failure.message
    assert stored == [1, 1]
    assert [path.name.split(".")[0] for path in (tmp_path / "traces").rglob("*") if path.is_file()] == [kept.trace]
    assert not any((tmp_path / "work").rglob("*.npz"))
