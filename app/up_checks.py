"""What `fusescope up` makes sure of before it starts anything: each refusal is one line that says what to do."""

from __future__ import annotations

import errno
import fcntl
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class UpError(ValueError):
    """Fusescope cannot be started here; the message says why and what to do."""


@contextmanager
def hold_state_directory(state: Path) -> Iterator[None]:
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


def check_port(host: str, port: int) -> None:
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
