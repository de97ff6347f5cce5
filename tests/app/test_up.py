"""`fusescope up` on real processes; the web server alone is a stub."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import psutil
import pytest

from app.up import UpError, up, worker_names
from db.jobs import submit_job
from db.session import open_database
from db.settings import REDIS_URL, STATE, read_settings
from db.workers import workers
from profiles import lifeline, presets
from profiles.worker import Capabilities
from tests.processes import is_alive, living, wait_until
from workers.broker import broker_url, connect, socket_path
from workers.dispatch import publish_trial
from workers.valkey import answers, server_command

READY_S = 30.0


@dataclass
class Up:
    """Started with `start`; `said` is what it printed."""

    state: Path
    port: int
    log: Path
    process: subprocess.Popen[bytes] | None = None

    def start(self, **environment: str) -> None:
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.app.up_process", str(self.port)],
                env=lifeline.environment(**{STATE: str(self.state), **environment}),
                stdout=output,
                stderr=output,
            )
        assert wait_until(lambda: f"http://127.0.0.1:{self.port}" in self.said, READY_S), self.said

    def has_started_before(self) -> None:
        """A job that no worker here can take: the database is not empty."""
        with closing(open_database(read_settings({}, state=self.state).database_url)) as db:
            db.upgrade()
            submit_job(db, presets.request("attention-ladder", device="cuda:99"))

    @property
    def said(self) -> str:
        return self.log.read_text()

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def child(self, naming: str) -> psutil.Process:
        (found,) = [p for p in psutil.Process(self.pid).children() if naming in " ".join(p.cmdline())]
        return found

    def has_child(self, naming: str) -> bool:
        return any(naming in " ".join(p.cmdline()) for p in psutil.Process(self.pid).children() if is_alive(p))

    def processes(self) -> list[psutil.Process]:
        return psutil.Process(self.pid).children(recursive=True)

    def page(self) -> bytes | None:
        try:
            with urlopen(f"http://127.0.0.1:{self.port}", timeout=2) as answer:
                return bytes(answer.read())
        except OSError:
            return None

    def workers_alive(self) -> list[str]:
        with closing(open_database(read_settings({}, state=self.state).database_url)) as db:
            return [worker.name for worker in workers(db) if worker.alive]


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Up]:
    """With a state directory whose name is too long for a Unix socket in it. No process is left at the end."""
    one = Up(state=tmp_path / ("long" * 30), port=free_port(), log=tmp_path / "up.log")
    one.has_started_before()
    yield one
    if one.process is not None and one.process.poll() is None:
        one.process.terminate()
        one.process.wait(20)
    assert wait_until(lambda: not living(naming=str(tmp_path)), 3.0), living(naming=str(tmp_path))
    shutil.rmtree(socket_path(one.state).parent, ignore_errors=True)  # a killed parent could not


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_one_command_starts_everything_and_ctrl_c_stops_all_of_it(started: Up) -> None:
    started.start()
    assert started.page() == b"a page\n"
    assert wait_until(started.workers_alive, READY_S)
    assert wait_until(lambda: len(started.processes()) == 4, READY_S), "queue server, web server, worker and its pool"
    processes = started.processes()
    os.kill(started.pid, signal.SIGINT)
    assert started.process is not None
    assert started.process.wait(20) == 0
    assert not any(is_alive(process) for process in processes)
    assert started.workers_alive() == []
    assert not socket_path(started.state).parent.exists()


def test_what_dies_is_restarted_and_the_queue_keeps_its_messages(started: Up) -> None:
    started.start()
    assert wait_until(started.workers_alive, READY_S)
    settings = read_settings({}, state=started.state)
    assert publish_trial(settings, 1, "cuda:3")
    killed = [started.child(naming) for naming in ("valkey-server", "stub_web", "workers")]
    for process in killed:
        process.kill()
    assert wait_until(lambda: started.said.count("was killed by SIGKILL; restarting it in 0.5 s") == 3, 10.0)
    assert wait_until(lambda: started.page() == b"a page\n", READY_S)
    with closing(connect(broker_url(settings))) as client:
        assert wait_until(lambda: answers(client), 10.0)
        assert client.llen("fusescope.cuda:3") == 1
    assert wait_until(lambda: started.has_child("workers"), 10.0)


def test_nothing_outlives_a_parent_that_is_killed(started: Up) -> None:
    started.start()
    assert wait_until(started.workers_alive, READY_S)
    processes = started.processes()
    os.kill(started.pid, signal.SIGKILL)
    assert wait_until(lambda: not any(is_alive(process) for process in processes), 3.0)


def test_a_redis_that_is_set_is_used_instead_of_the_embedded_server(started: Up, tmp_path: Path) -> None:
    path = Path(tempfile.mkdtemp(prefix="fusescope-")) / "redis.sock"
    server = subprocess.Popen(server_command(socket=path, directory=tmp_path), stdout=subprocess.DEVNULL)
    try:
        assert wait_until(path.exists, 10.0)
        started.start(**{REDIS_URL: f"unix://{path}"})
        assert not any("valkey" in " ".join(process.cmdline()) for process in started.processes())
        assert wait_until(started.workers_alive, READY_S)
    finally:
        started.process and started.process.terminate()
        started.process and started.process.wait(20)
        server.kill()
        server.wait()
        shutil.rmtree(path.parent)


def test_a_second_start_with_the_same_state_directory_is_refused(started: Up) -> None:
    started.start()
    with pytest.raises(UpError, match="Fusescope runs already with the state directory"):
        up(read_settings({}, state=started.state), "127.0.0.1", free_port())


def test_a_taken_port_is_refused_by_name(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UpError, match=rf"^port {port} of 127.0.0.1 is taken; choose another with --port$"):
            up(read_settings({}, state=tmp_path), "127.0.0.1", port)


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 70_000), ("no.such.host.invalid", 8501)])
def test_an_address_that_cannot_be_listened_on_is_refused(tmp_path: Path, host: str, port: int) -> None:
    with pytest.raises(UpError, match=r"port 70000 does not exist|cannot listen on no\.such\.host\.invalid"):
        up(read_settings({}, state=tmp_path), host, port)


def test_a_state_directory_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UpError, match="file/state cannot be written: Not a directory; choose another with --state"):
        up(read_settings({}, state=tmp_path / "file" / "state"), "127.0.0.1", free_port())


@pytest.mark.parametrize(
    ("devices", "workers_of_them"),
    [
        ({"cpu": "2.13.0"}, ("cpu",)),
        ({"cuda:0": "2.13.0", "cuda:1": "2.13.0", "cpu": "2.13.0"}, ("cuda:0", "cuda:1", "traces")),
        ({"cuda:0": None, "cpu": None}, ("traces",)),
    ],
)
def test_traces_are_read_beside_gpus_and_where_nothing_can_be_measured(
    devices: dict[str, str | None], workers_of_them: tuple[str, ...]
) -> None:
    machine = [
        Capabilities(
            device=device, device_name="", memory_bytes=None, host="here", torch=torch, packages={}, compiler=False
        )
        for device, torch in devices.items()
    ]
    assert worker_names(machine) == workers_of_them
