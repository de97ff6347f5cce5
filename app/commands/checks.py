"""What `fusescope doctor` looks at: one function for each thing that must work, with the remedy where it does not."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from redis import Redis, RedisError

from db.errors import DatabaseError
from db.session import open_database
from db.settings import Settings
from profiles.reports import Check
from profiles.worker import Capabilities
from workers.broker import broker_url
from workers.valkey import NoQueueServer, server_program

OLDEST_PYTHON = (3, 11)
GIB = 1 << 30
ROOM_BYTES = 2 * GIB
PING_S = 2.0


def python() -> Check:
    found = platform.python_version()
    if sys.version_info >= OLDEST_PYTHON:
        return Check(name="python", state="ok", found=found)
    return Check(name="python", state="fail", found=found, remedy="install Python 3.11 or later, then `make install`")


def torch(devices: Sequence[Capabilities]) -> Check:
    found = devices[0].torch
    if found is None:
        remedy = "`make install` installs one that suits this machine"
        return Check(name="torch", state="fail", found="not installed", remedy=remedy)
    has_gpu = any(device.device.startswith("cuda") for device in devices)
    if has_gpu and found.endswith("+cpu"):
        remedy = "install a CUDA build of torch; until then jobs for the GPU fail"
        return Check(name="torch", state="warn", found=f"{found}, without CUDA", remedy=remedy)
    return Check(name="torch", state="ok", found=found)


def device(one: Capabilities) -> Check:
    memory = f", {one.memory_bytes / GIB:,.0f} GiB" if one.memory_bytes else ""
    return Check(name=one.device, state="ok", found=f"{one.device_name}{memory}")


def driver(devices: Sequence[Capabilities]) -> Check:
    """A driver without a device that NVML finds is the usual sign of a broken installation or an empty container."""
    gpus = sum(one.device.startswith("cuda") for one in devices)
    if gpus:
        return Check(name="gpu", state="ok", found=f"{gpus} found")
    if Path("/proc/driver/nvidia").exists() or shutil.which("nvidia-smi"):
        remedy = "see what `nvidia-smi` says, and CUDA_VISIBLE_DEVICES"
        return Check(name="gpu", state="warn", found="an NVIDIA driver, but no device", remedy=remedy)
    return Check(name="gpu", state="ok", found="none; jobs run on the CPU")


def compiler(devices: Sequence[Capabilities]) -> Check:
    if devices[0].compiler:
        return Check(name="compiler", state="ok", found="a C++ compiler")
    remedy = "install g++ or clang++; until then compiled variants are refused on the CPU"
    return Check(name="compiler", state="warn", found="none", remedy=remedy)


def transformers(devices: Sequence[Capabilities]) -> Check:
    found = devices[0].packages.get("transformers")
    if found is not None:
        return Check(name="transformers", state="ok", found=found)
    remedy = "`make install`; until then `decoder_prefill` is refused"
    return Check(name="transformers", state="warn", found="not installed", remedy=remedy)


def queue_server(settings: Settings) -> Check:
    if settings.redis_url is not None:
        return Check(name="valkey", state="ok", found="not needed: FUSESCOPE_REDIS_URL is set")
    try:
        return Check(name="valkey", state="ok", found=server_program())
    except NoQueueServer as error:
        remedy = "install valkey-server or redis-server, or set FUSESCOPE_REDIS_URL"
        return Check(name="valkey", state="fail", found=str(error), remedy=remedy)


def queue(settings: Settings) -> Check:
    """Whether the queue answers now; the embedded one runs only while `fusescope up` does."""
    try:
        with Redis.from_url(_redis_url(settings), socket_timeout=PING_S, socket_connect_timeout=PING_S) as server:
            server.ping()
    except (RedisError, OSError) as error:
        if settings.redis_url is None:
            return Check(name="queue", state="warn", found="not running", remedy="`fusescope up` starts it")
        remedy = "start it, or correct FUSESCOPE_REDIS_URL"
        return Check(name="queue", state="fail", found=f"does not answer: {error}", remedy=remedy)
    return Check(name="queue", state="ok", found="answers")


def _redis_url(settings: Settings) -> str:
    return broker_url(settings).replace("redis+socket://", "unix://", 1)


def database(settings: Settings) -> Check:
    if _is_missing_file(settings):
        return Check(name="database", state="warn", found="not made yet", remedy="`fusescope up` makes it")
    try:
        opened = open_database(settings.database_url)
        try:
            opened.check_version()
        finally:
            opened.close()
    except DatabaseError as error:
        remedy = "`python -m db.migrations` brings its tables up to date; its address is FUSESCOPE_DATABASE_URL"
        return Check(name="database", state="fail", found=str(error), remedy=remedy)
    return Check(name="database", state="ok", found=f"{opened.engine.dialect.name}, up to date")


def _is_missing_file(settings: Settings) -> bool:
    """Looking at it would make it."""
    scheme, _, path = settings.database_url.partition(":///")
    return scheme == "sqlite" and not Path(unquote(path)).exists()


def state(settings: Settings) -> Check:
    place = _nearest(settings.state)
    free = shutil.disk_usage(place).free
    if not os.access(place, os.W_OK):
        remedy = "make it writable, or name another: --state DIR or FUSESCOPE_STATE"
        return Check(name="state", state="fail", found=f"{settings.state} cannot be written", remedy=remedy)
    found = f"{settings.state}, {free / GIB:,.1f} GiB free"
    if free < ROOM_BYTES:
        remedy = "free some space: traces take some MiB for each run"
        return Check(name="state", state="warn", found=found, remedy=remedy)
    return Check(name="state", state="ok", found=found)


def _nearest(path: Path) -> Path:
    """The directory that is there: it decides whether `path` can be made."""
    return next(parent for parent in (path, *path.parents) if parent.exists())
