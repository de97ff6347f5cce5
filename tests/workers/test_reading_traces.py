"""What becomes of imported traces in workers: read, refused, read again after a kill, read once by many."""

from __future__ import annotations

import signal
from pathlib import Path

import psutil
import pytest
from sqlalchemy import func, select, update

from db.clock import from_now
from db.import_removal import delete_import
from db.imports import imported_trace, take_upload
from db.jobs import cancel_job
from db.models import ImportedTraceRow, TimelineChunkRow, TraceKernelRow, TraceRow
from db.session import Database
from db.store import TraceStore, file_sha256
from db.uploads import Upload
from db.views import ImportedTrace, ImportFailureKind, ImportStatus
from tests.processes import wait_until
from tests.workers.conftest import HANGS, TAKES_A_WHILE, Site, WorkerProcess
from workers.dispatch import publish_import

pytestmark = pytest.mark.timeout(90)

RECORDED = Path(__file__).parents[1] / "data" / "traces"
NAIVE, FLASH = RECORDED / "cuda_naive.json.gz", RECORDED / "cuda_sdpa_flash.json.gz"
SWIGLU = RECORDED / "cuda_swiglu_graph.json.gz"
READING = "profiles.trace"
ENDED = (ImportStatus.DONE, ImportStatus.FAILED)


def upload(site: Site, content: bytes, name: str = "a.json", *, publish: bool = True) -> int:
    with Upload(site.settings.state, most_bytes=1 << 30) as coming:
        coming.add(content)
        taken = take_upload(site.db, TraceStore(site.settings.traces_url), coming, file_name=name)
    if publish:
        assert publish_import(site.settings, taken.import_id)
    return taken.import_id


def wait_for(site: Site, import_id: int, *statuses: ImportStatus, within_s: float = 30.0) -> ImportedTrace:
    wanted = statuses or ENDED
    assert wait_until(lambda: imported_trace(site.db, import_id).status in wanted, within_s), site.logs()
    return imported_trace(site.db, import_id)


def rows(db: Database) -> list[int]:
    with db.read() as session:
        return [
            session.scalar(select(func.count()).select_from(row)) or 0
            for row in (TraceRow, TimelineChunkRow, TraceKernelRow)
        ]


def kept(site: Site) -> list[Path]:
    return [path for path in (site.settings.state / "traces").rglob("*") if path.is_file()]


def readers(worker: WorkerProcess) -> list[psutil.Process]:
    """Found by descent: to look through all processes of a machine, again and again, slows down what is looked for."""
    return [each for each in psutil.Process(worker.process.pid).children(recursive=True) if reads(each)]


def reads(process: psutil.Process) -> bool:
    """In the middle of it: the worker, too, is done with starting it."""
    try:
        return READING in process.cmdline() and process.cpu_times().user >= 0.02
    except psutil.Error:  # it has ended meanwhile
        return False


def time_passes(db: Database) -> None:
    """Whoever beats no more is silent from now on, and whatever waits has waited for long."""
    with db.begin() as session:
        session.execute(
            update(ImportedTraceRow)
            .where(ImportedTraceRow.status == ImportStatus.RUNNING)
            .values(lease_until=from_now(-1.0))
        )
        session.execute(update(ImportedTraceRow).values(published_at=from_now(-60.0)))


def caught(*workers: WorkerProcess) -> WorkerProcess:
    """The one whose reader is in the middle of a file, where it stays: it is stopped as soon as it is there."""
    found: list[WorkerProcess] = []

    def catch() -> bool:
        for worker in workers:
            for reader in readers(worker):
                reader.suspend()
                found.append(worker)
        return bool(found)

    assert wait_until(catch, 30.0), [worker.log.read_text() for worker in workers]
    return found[0]


@pytest.mark.parametrize("calm_site", ["embedded"], indirect=True)  # how queues take turns is no matter of the server's
def test_a_worker_of_a_device_reads_traces_between_two_trials(calm_site: Site) -> None:
    job = calm_site.submit(seed=HANGS)
    calm_site.wait_until_measuring(job)
    content = FLASH.read_bytes()
    queued = [calm_site.submit(seed=TAKES_A_WHILE) for _ in range(3)]
    good, broken = upload(calm_site, NAIVE.read_bytes()), upload(calm_site, content[: len(content) // 2])
    assert imported_trace(calm_site.db, good).status is ImportStatus.QUEUED
    assert calm_site.trial(job).status == "running"
    cancel_job(calm_site.db, job.id)
    done = wait_for(calm_site, good)
    assert calm_site.trial(queued[-1]).status == "queued", "it did not wait for all of them"
    failed = wait_for(calm_site, broken)
    assert (done.status, done.attempt, done.failure) == (ImportStatus.DONE, 1, None)
    assert done.summary is not None
    assert failed.failure is not None
    assert failed.failure.kind is ImportFailureKind.UNREADABLE
    assert failed.failure.message.startswith("truncated: the gzip data ends early")
    assert rows(calm_site.db)[0] == 1
    assert [path.name for path in kept(calm_site)] == [f"{done.sha256}.json.gz"]
    assert not list((calm_site.settings.state / "first" / "work").glob("reading-*"))


def test_a_trace_is_read_once_whatever_becomes_of_its_message_and_its_workers(site: Site) -> None:
    workers = [site.start_worker(name=name, program=("traces",)) for name in ("first", "second")]
    killed = upload(site, NAIVE.read_bytes())
    victim = caught(*workers)
    victim.signal_all(signal.SIGKILL)
    lost = upload(site, FLASH.read_bytes(), publish=False)
    assert wait_until(lambda: not victim.everything, 10.0)
    assert imported_trace(site.db, killed).status is ImportStatus.RUNNING
    workers.remove(victim)
    workers.append(site.start_worker(name="third", program=("traces",)))
    time_passes(site.db)
    for import_id, attempts in ((killed, 2), (lost, 1)):
        done = wait_for(site, import_id)
        assert (done.status, done.attempt) == (ImportStatus.DONE, attempts)
    assert rows(site.db)[0] == 2

    given_back = upload(site, SWIGLU.read_bytes())
    stopping = caught(*workers)
    stopping.process.send_signal(signal.SIGTERM)
    assert stopping.process.wait(20) == 0
    done = wait_for(site, given_back)
    assert (done.status, done.attempt) == (ImportStatus.DONE, 1)
    for name in (NAIVE, FLASH, SWIGLU):
        assert any(path.name.startswith(file_sha256(name)) for path in kept(site))


@pytest.mark.parametrize("site", ["embedded"], indirect=True)  # one worker, whatever the broker
def test_a_trace_that_is_deleted_while_it_is_read_is_read_no_further(site: Site) -> None:
    worker = site.start_worker(program=("traces",))
    deleted = upload(site, NAIVE.read_bytes())
    (reader,) = (process for each in [caught(worker)] for process in readers(each))
    delete_import(site.db, TraceStore(site.settings.traces_url), deleted)
    assert wait_until(lambda: not reader.is_running(), 5.0), "its reader, which never ends by itself, is still there"
    assert wait_until(lambda: "deleted, meanwhile" in worker.log.read_text(), 5.0)
    assert wait_for(site, upload(site, FLASH.read_bytes())).status is ImportStatus.DONE
    assert rows(site.db)[0] == 1
    assert not list(site.settings.state.rglob("reading-*"))
