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


def end_group(group: int, *, mark: str, within_s: float = 2.0) -> bool:
    """Kill the group and every process with the mark; whether all were gone in time."""
    deadline = time.monotonic() + within_s
    while True:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: a group of zombies is not permitted
            os.killpg(group, signal.SIGKILL)
        left = marked(mark)
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if not left or time.monotonic() > deadline:
            return not left
        time.sleep(0.01)


def marked(mark: str) -> tuple[int, ...]:
    """The living processes whose environment holds the mark."""
    needle = f"{MARK}={mark}".encode()
    return tuple(pid for pid in _pids() if pid != os.getpid() and needle in _environ(pid).split(b"\0"))


def _pids() -> list[int]:
    if not PROC.is_dir():
        return []
    return [int(name) for name in os.listdir(PROC) if name.isdigit()]  # noqa: PTH208 - half the time of iterdir


def _environ(pid: int) -> bytes:
    """Empty for zombies and for other users' processes."""
    try:
        return (PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return b""


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except (ProcessLookupError, PermissionError):
        return None


def _resident_bytes(pid: int) -> int:
    try:
        return int((PROC / str(pid) / "statm").read_bytes().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0
