"""Where the queue's server is: the address that is set, else the embedded server of the state directory."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from redis import Redis

from db.settings import Settings

SOCKET = "redis+socket://"


def broker_url(settings: Settings) -> str:
    """The address as kombu writes it. The embedded server's follows from the state directory alone, so that every
    process on the machine finds it."""
    if settings.redis_url is None:
        return f"{SOCKET}{socket_path(settings.state)}"
    return settings.redis_url.replace("unix://", SOCKET, 1)


def connect(url: str) -> Redis:
    """A client of the server at `url`, as kombu writes it; it connects with its first command."""
    return Redis.from_url(
        url.replace(SOCKET, "unix://", 1).replace("virtual_host=", "db="),
        socket_connect_timeout=2.0,
        socket_timeout=5.0,
    )


def socket_path(state: Path) -> Path:
    """The embedded server's socket: in a directory of a short name, because 108 bytes are all that such a path has."""
    digest = hashlib.sha256(os.fsencode(state.resolve())).hexdigest()[:12]
    return Path(f"/tmp/fusescope-{os.getuid()}-{digest}/valkey.sock")  # noqa: S108 - own_directory looks whose it is


def own_directory(path: Path) -> Path:
    """Make the directory; PermissionError where somebody else made it first."""
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077 or path.is_symlink():
        raise PermissionError(f"{path} exists and is not this user's alone; remove it")
    return path
