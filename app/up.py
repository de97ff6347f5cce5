"""`fusescope up`: the queue's server, a worker per device and the web server, under one parent on one machine."""

from __future__ import annotations

import errno
import fcntl
import importlib.metadata
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from db.session import open_database
from db.settings import DATABASE_URL, REDIS_URL, STATE, TRACES_URL, Settings
from profiles.devices import find_devices
from workers.broker import broker_url, connect, own_directory, socket_path
from workers.keeper import Keeper, Service
from workers.valkey import answers, server_command

WEB = "app.server"
LOOK_S = 0.1
READY_S = 30.0


class UpError(ValueError):
    """Fusescope cannot be started here; the message says why and what to do."""


def up(
    settings: Settings,
    host: str,
    port: int,
    *,
    web: str = WEB,
    say: Callable[[str], None] = lambda line: print(line, flush=True),
) -> int:
    """Run everything until Ctrl-C or SIGTERM; 0 then. UpError where it cannot start.

    `web` is the module that serves the pages, started with `--host` and `--port`.
    """
    with _stop_signals() as stop, _state_directory(settings.state):
        _check_torch()
        _check_port(host, port)
        keeper = Keeper(say)
        try:
            _start(keeper, settings, host, port, web=web)
            if _wait_for_port(keeper, host, port, stop):
                say(
                    f"Fusescope runs at http://{_shown(host)}:{port} (Ctrl-C stops it; logs: {settings.state / 'logs'})"
                )
            while not stop.wait(LOOK_S):
                keeper.look()
            say("stopping")
        finally:
            keeper.stop()
    return 0


def _start(keeper: Keeper, settings: Settings, host: str, port: int, *, web: str) -> None:
    if settings.redis_url is None:
        _start_queue_server(keeper, settings)
    with closing(open_database(settings.database_url)) as db:
        db.upgrade()
    environment, logs = _environment(settings), settings.state / "logs"
    serve = ("module", web, "--host", host, "--port", str(port))
    keeper.start(Service(name="web server", command=serve, log=logs / "web.log", environment=environment))
    for device in _measuring_devices():
        log = logs / f"worker-{device.replace(':', '-')}.log"
        keeper.start(
            Service(name=f"worker {device}", command=("module", "workers", device), log=log, environment=environment)
        )


def _start_queue_server(keeper: Keeper, settings: Settings) -> None:
    """Ready when it returns: what it kept on disk is loaded by then."""
    path, directory = socket_path(settings.state), settings.state / "queue"
    directory.mkdir(exist_ok=True)
    try:
        own_directory(path.parent)
    except PermissionError as error:
        raise UpError(str(error)) from error
    command = ("exec", *server_command(socket=path, directory=directory))
    log = settings.state / "logs" / "queue.log"
    keeper.start(Service(name="queue server", command=command, log=log, needed=True))
    with closing(connect(broker_url(settings))) as client:
        if not _within(READY_S, lambda: answers(client)):
            raise UpError(f"the queue server did not start; see {log}")


def _measuring_devices() -> tuple[str, ...]:
    """Every GPU; the CPU where there is none."""
    devices = [found.device for found in find_devices()]
    return tuple(device for device in devices if device != "cpu") or ("cpu",)


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
            time.sleep(0.05)
    return False


def _within(seconds: float, true: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if true():
            return True
        time.sleep(0.02)
    return False


@contextmanager
def _stop_signals() -> Iterator[threading.Event]:
    stop = threading.Event()
    before = {
        number: signal.signal(number, lambda *_: stop.set())
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _state_directory(state: Path) -> Iterator[None]:
    """Made if need be, and held by this process alone."""
    try:
        state.mkdir(parents=True, exist_ok=True)
        lock = (state / "up.lock").open("a+")
    except OSError as error:
        raise UpError(
            f"the state directory {state} cannot be written: {error.strerror}; choose another with --state"
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UpError(
                f"Fusescope runs already with the state directory {state}; stop it, or choose another with --state"
            ) from None
        yield


def _check_torch() -> None:
    try:
        importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        raise UpError(
            "torch is not installed, and nothing can be measured without it; `make install` adds it"
        ) from None


def _check_port(host: str, port: int) -> None:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OverflowError:
        raise UpError(f"port {port} does not exist; accepted are 1 to 65,535") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise UpError(f"port {port} of {host} is taken; choose another with --port") from error
        raise UpError(f"cannot listen on {host}, port {port}: {error.strerror}") from error


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _reachable(host: str) -> str:
    """Where a server that listens on every address is found from here."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - nothing is bound here
