"""The processes of a measuring child: its group, and whatever left the group but still carries the child's mark.

The mark is an environment variable, which children inherit: it finds compile workers and daemons that started a
session of their own. Without /proc (macOS) only the group is ended, and its memory is not seen.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

MARK = "FUSESCOPE_CHILD"
PROC = Path("/proc")
PAGE = os.sysconf("SC_PAGE_SIZE")


def group_bytes(group: int) -> int:
    """Resident memory of the group's processes together; pages that they share count for each."""
    return sum(_resident_bytes(pid) for pid in _pids() if _group_of(pid) == group)


def end_group(group: int, *, mark: str, within_s: float = 5.0) -> bool:
    """Kill the group and every process with the mark; whether all had ended in time.

    Ended means that what they held is free, a GPU's memory too: a killed process lets go of it over some time, in which
    it shows no environment any more.
    """
    deadline = time.monotonic() + within_s
    left: set[int] = set()
    while True:
        left = {pid for pid in left | _members(group, mark) if not _has_ended(pid)}
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: a group of zombies is not permitted
            os.killpg(group, signal.SIGKILL)
        if not left or time.monotonic() > deadline:
            return not left
        time.sleep(0.01)


def end_own_children(*, naming: str) -> None:
    """Kill the children of this process whose command line has the text."""
    for pid in _pids():
        if _parent_of(pid) == os.getpid() and naming.encode() in _read(pid, "cmdline"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _members(group: int, mark: str) -> set[int]:
    needle, own = f"{MARK}={mark}".encode(), os.getpid()
    return {
        pid
        for pid in _pids()
        if pid != own and (_group_of(pid) == group or needle in _read(pid, "environ").split(b"\0"))
    }


def _has_ended(pid: int) -> bool:
    """Gone, or a zombie without other threads: its files are closed, only its parent has not asked for its status."""
    fields = _status_fields(pid)
    return not fields or (fields[0] in (b"Z", b"X") and _threads(pid) <= 1)


def _parent_of(pid: int) -> int | None:
    fields = _status_fields(pid)
    return int(fields[1]) if fields else None


def _resident_bytes(pid: int) -> int:
    fields = _read(pid, "statm").split()
    return int(fields[1]) * PAGE if fields else 0


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except (ProcessLookupError, PermissionError):
        return None


def _pids() -> list[int]:
    if not PROC.is_dir():
        return []
    return [int(name) for name in os.listdir(PROC) if name.isdigit()]  # noqa: PTH208 - half the time of iterdir


def _threads(pid: int) -> int:
    try:
        return len(os.listdir(PROC / str(pid) / "task"))  # noqa: PTH208 - as above
    except OSError:
        return 0


def _status_fields(pid: int) -> list[bytes]:
    """State, parent, group and so on, after the name in brackets, which may hold anything."""
    return _read(pid, "stat").rpartition(b")")[2].split()


def _read(pid: int, name: str) -> bytes:
    """Empty where the process is gone, or another user's."""
    try:
        return (PROC / str(pid) / name).read_bytes()
    except OSError:
        return b""
