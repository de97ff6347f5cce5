"""A site: a broker, a database and workers, all of them real processes.

`embedded` is Valkey on a Unix socket with SQLite, `team` is Redis on a port with PostgreSQL.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import psutil
import pytest

from db.jobs import job, submit_job
from db.session import Database, open_database
from db.settings import DATABASE_URL, REDIS_URL, STATE, TRACES_URL, Settings
from db.trials import trial
from db.views import JobView, TrialView
from profiles import lifeline
from profiles.job import JobRequest, TrialRequest
from profiles.supervisor.processes import MARK
from profiles.workload import DType, Workload
from tests.conftest import _new_postgres as new_postgres
from tests.processes import living, wait_until
from workers.broker import broker_url, connect, own_directory, socket_path
from workers.dispatch import publish_job
from workers.valkey import answers, server_command

SWIGLU = Workload(operation="swiglu", dtype=DType.FP32, axes={"rows": 8, "width": 16, "hidden": 32})
VARIANTS = ("unfused", "unfused@compile")
STAND_IN = ("module", "tests.stand_in")
HANGS, TAKES_A_WHILE, CANNOT_START, LEAVES_THE_GROUP, LEAVES_CODE = 1, 2, 3, 4, 5
CODE = "def kernel(): ..."
ACTS = {
    HANGS: "unfused=sleep:60",
    TAKES_A_WHILE: "unfused=sleep:0.5",
    CANNOT_START: "start=exit:no CUDA-capable device is detected",
    LEAVES_THE_GROUP: "unfused=stray:60",
    LEAVES_CODE: f"unfused=leave:{CODE}",
}


@dataclass
class Broker:
    """A server process of the test's own, which it may kill."""

    command: list[str]
    url: str
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
        with closing(connect(self.url)) as client:
            assert wait_until(lambda: answers(client), 10.0)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def queued(self, queue: str = "fusescope.cpu") -> int:
        with closing(connect(self.url)) as client:
            return int(client.llen(queue))

    def purge(self) -> None:
        with closing(connect(self.url)) as client:
            client.flushdb()


@dataclass
class WorkerProcess:
    process: subprocess.Popen[bytes]
    log: Path
    state: Path

    @property
    def pool(self) -> psutil.Process:
        """The process that measures: the parent's only child."""
        (child,) = psutil.Process(self.process.pid).children()
        return child

    @property
    def measuring(self) -> list[psutil.Process]:
        return [process for process in self.everything if process.environ().get(MARK)]

    @property
    def everything(self) -> list[psutil.Process]:
        """Of this worker, whoever its parent is by now."""
        return living(naming=str(self.state))

    def signal_all(self, number: signal.Signals) -> None:
        for process in self.everything:
            process.send_signal(number)

    def kill(self) -> None:
        """The lifeline takes the rest along."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdin is not None
        self.process.stdin.close()


@dataclass
class Site:
    settings: Settings
    broker: Broker
    db: Database
    workers: list[WorkerProcess] = field(default_factory=list)

    def start_worker(self, *acts: str, name: str = "first", program: tuple[str, ...] = STAND_IN) -> WorkerProcess:
        """Each has a state directory of its own, as on machines of their own."""
        state = self.settings.state / name
        state.mkdir(exist_ok=True)
        settings = {
            STATE: str(state),
            DATABASE_URL: self.settings.database_url,
            REDIS_URL: self.broker.url,
            TRACES_URL: self.settings.traces_url,
        }
        log = state / "worker.log"
        with log.open("ab") as output:
            process = subprocess.Popen(
                lifeline.command("module", "tests.workers.worker_process", *program, *acts),
                env=lifeline.environment(**settings),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self.workers.append(WorkerProcess(process, log, state))
        return self.workers[-1]

    def submit(self, *, device: str = "cpu", seed: int = 0, publish: bool = True) -> JobView:
        workload = msgspec.structs.replace(SWIGLU, seed=seed)
        request = JobRequest(name="Test", device=device, trials=(TrialRequest(workload=workload, variants=VARIANTS),))
        submitted = submit_job(self.db, request)
        if publish:
            assert publish_job(self.settings, submitted)
        return submitted

    def trial(self, submitted: JobView) -> TrialView:
        return trial(self.db, submitted.trials[0].id)

    def wait_for(self, submitted: JobView, *statuses: str, within_s: float = 20.0) -> TrialView:
        assert wait_until(lambda: self.trial(submitted).status in statuses, within_s), self.trial(submitted)
        return self.trial(submitted)

    def wait_until_measuring(self, submitted: JobView) -> None:
        """The trial runs and its child is at a variant."""
        assert wait_until(lambda: any(at.current for at in self.trial(submitted).progress), 20.0), self.logs()

    def job(self, submitted: JobView) -> JobView:
        return job(self.db, submitted.id)

    def logs(self) -> str:
        return "\n".join(worker.log.read_text() for worker in self.workers)


KINDS = ["embedded", pytest.param("team", marks=pytest.mark.services)]


@pytest.fixture(params=KINDS)
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    """A site for one test, which may kill what it likes."""
    with _site(request.param, tmp_path) as built:
        yield built


@pytest.fixture(params=KINDS, scope="module")
def calm_site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site with one worker for all tests of a module that leave both alone; what a variant does goes by the seed."""
    with _site(request.param, tmp_path_factory.mktemp("calm")) as built:
        built.start_worker(*(f"{seed}/{act}" for seed, act in ACTS.items()))
        yield built


@contextmanager
def _site(kind: str, directory: Path) -> Iterator[Site]:
    """No process of it is left at its end."""
    with ExitStack() as stack:
        broker, settings = (_embedded if kind == "embedded" else _team)(directory, stack)
        stack.callback(broker.kill)
        broker.start()
        db = stack.enter_context(closing(open_database(settings.database_url)))
        db.upgrade()
        built = Site(settings=settings, broker=broker, db=db)
        stack.callback(lambda: [worker.kill() for worker in built.workers])
        yield built
    assert wait_until(lambda: not living(naming=str(directory)), 3.0), living(naming=str(directory))


def _embedded(directory: Path, stack: ExitStack) -> tuple[Broker, Settings]:
    settings = Settings(
        state=directory,
        database_url=f"sqlite:///{directory / 'fusescope.db'}",
        redis_url=None,
        traces_url=(directory / "traces").as_uri(),
    )
    path = socket_path(directory)
    own_directory(path.parent)
    stack.callback(shutil.rmtree, path.parent)
    queue = directory / "queue"
    queue.mkdir()
    return Broker(server_command(socket=path, directory=queue), broker_url(settings)), settings


def _team(directory: Path, stack: ExitStack) -> tuple[Broker, Settings]:
    program = shutil.which("redis-server")
    if program is None and os.environ.get("FUSESCOPE_REQUIRE_SERVICES") == "1":
        pytest.fail("redis-server is not on PATH")
    if program is None:
        pytest.skip("redis-server is not on PATH")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"redis://127.0.0.1:{port}/3"
    settings = Settings(
        state=directory,
        database_url=stack.enter_context(contextmanager(new_postgres)()),
        redis_url=url,
        traces_url=(directory / "traces").as_uri(),
    )
    queue = directory / "queue"
    queue.mkdir()
    options = ("--port", str(port), "--bind", "127.0.0.1", "--dir", str(queue), "--appendonly", "yes")
    return Broker([program, *options, "--save", "", "--loglevel", "warning"], url), settings
