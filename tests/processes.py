"""What tests of real processes look at: who is alive, by command line or by environment."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import psutil


def wait_until(true: Callable[[], object], within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if true():
            return True
        time.sleep(0.02)
    return bool(true())


def living(*, naming: str) -> list[psutil.Process]:
    """Processes, but this one, whose command line or environment holds the text."""
    return [process for process in psutil.process_iter() if process.pid != os.getpid() and _names(process, naming)]


def is_alive(process: psutil.Process) -> bool:
    """One that has ended but was not collected by its parent yet is not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _names(process: psutil.Process, text: str) -> bool:
    try:
        return text in " ".join(process.cmdline()) or any(text in value for value in process.environ().values())
    except psutil.Error:
        return False
