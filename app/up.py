"""`fusescope up`: the queue's server, a worker per device and the web server, under one parent on one machine.

Without torch nothing is measured, but results and traces from elsewhere are imported and shown."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from app.up_checks import UpError, check_port, hold_state_directory
from db.settings import DATABASE_URL, REDIS_URL, STATE, TRACES_URL, Settings
from profiles.devices import find_devices
from profiles.worker import Capabilities
from workers.keeper import Keeper, Service

__all__ = ["UpError", "up"]

WEB = "app.server"
TRACES = "traces"
LOOK_S = 0.1
KNOCK_S = 0.05
SAY = partial(print, flush=True)


def up(settings: Settings, host: str, port: int, *, web: str = WEB, say: Callable[[str], None] = SAY) -> int:
    """Run everything until Ctrl-C or SIGTERM; 0 then. UpError, NoQueueServer or DatabaseError where it cannot start.

    `web` is the module that serves the pages, started with `--host` and `--port`.
    """
    with _stop_signals() as stop, hold_state_directory(settings.state):
        check_port(host, port)
        workers = worker_names(find_devices())
        keeper = Keeper(say)
        try:
            _start_serving(keeper, settings, host, port, web=web, measures_on=_kind(workers), say=say)
            if _wait_for_port(keeper, host, port, stop):
                say(
                    f"Fusescope runs at http://{_shown(host)}:{port} (Ctrl-C stops it; logs: {settings.state / 'logs'})"
                )
                _start_workers(keeper, settings, workers)
            while not stop.wait(LOOK_S):
                keeper.look()
            say("Stopping")
        finally:
            _stop(keeper, settings)
    return 0


def worker_names(devices: Sequence[Capabilities]) -> tuple[str, ...]:
    """What `python -m workers` is started with: every GPU, or the CPU where there is none, for each a worker.

    Beside GPUs another one reads traces, so that they need not wait for a measurement's end. On a CPU it would disturb
    that measurement. Without torch it is the only one.
    """
    measuring = [device.device for device in devices if device.torch is not None]
    gpus = tuple(device for device in measuring if device != "cpu")
    return (*gpus, TRACES) if gpus or not measuring else ("cpu",)


def _start_serving(
    keeper: Keeper,
    settings: Settings,
    host: str,
    port: int,
    *,
    web: str,
    measures_on: str | None,
    say: Callable[[str], None],
) -> None:
    """The web server first: it loads for seconds, and asks for the database with its first page alone."""
    command = ("module", web, "--host", host, "--port", str(port))
    log = settings.state / "logs" / "web.log"
    keeper.start(Service(name="web server", command=command, log=log, environment=_environment(settings)))
    from app.preparation import prepare_database, start_queue_server  # noqa: PLC0415 - loads SQLAlchemy meanwhile

    if settings.redis_url is None:
        start_queue_server(keeper, settings)
    if measures_on is None:
        say("torch is not installed: what comes from elsewhere is shown, nothing is measured; `make install` adds it")
    prepare_database(settings, device=measures_on, say=say)


def _start_workers(keeper: Keeper, settings: Settings, workers: Sequence[str]) -> None:
    """After the pages are there: on two cores, loading both at once would keep people waiting."""
    for worker in workers:
        log = settings.state / "logs" / f"worker-{worker.replace(':', '-')}.log"
        command = ("module", "workers", worker)
        keeper.start(Service(name=f"worker {worker}", command=command, log=log, environment=_environment(settings)))


def _stop(keeper: Keeper, settings: Settings) -> None:
    keeper.stop()
    from app.preparation import remove_socket  # noqa: PLC0415 - loaded long ago

    remove_socket(settings)


def _kind(workers: Sequence[str]) -> str | None:
    """The device class that the first job is for; None where nothing can be measured."""
    return None if workers == (TRACES,) else workers[0].partition(":")[0]


def _environment(settings: Settings) -> dict[str, str]:
    given = {
        STATE: str(settings.state),
        DATABASE_URL: settings.database_url,
        TRACES_URL: settings.traces_url,
        REDIS_URL: settings.redis_url,
    }
    return {name: value for name, value in given.items() if value is not None}


def _wait_for_port(keeper: Keeper, host: str, port: int, stop: threading.Event) -> bool:
    """Whether the web server listens; False where somebody wants to stop before."""
    while not stop.is_set():
        keeper.look()
        try:
            with socket.create_connection((_reachable(host), port), timeout=1.0):
                return True
        except OSError:
            time.sleep(KNOCK_S)
    return False


@contextmanager
def _stop_signals() -> Iterator[threading.Event]:
    stop = threading.Event()
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _reachable(host: str) -> str:
    """Where a server that listens on every address is found from here."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - nothing is bound here
