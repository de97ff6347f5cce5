"""One piece of work in a process of its own, forked: started in milliseconds, watched, gone when its parent goes."""

from __future__ import annotations

import ctypes
import mmap
import os
import select
import signal
import stat
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import NoReturn

from profiles.measure.device import DeviceError, DeviceLostError
from profiles.measure.messages import Inbox, Message, Outbox, Trouble
from profiles.results import FailureKind

PR_SET_PDEATHSIG = 1


class OrphanedError(RuntimeError):
    """The process that asked for the measurement is gone."""


class Spotlight:
    """Which variant is being worked on, in memory shared with the forks: it outlives the one that it names."""

    def __init__(self, variants: tuple[str, ...]) -> None:
        self._variants = variants
        self._memory = mmap.mmap(-1, 4)
        self.clear()

    def point_at(self, variant: str) -> None:
        self._write(self._variants.index(variant) + 1)

    def clear(self) -> None:
        self._write(0)

    @property
    def variant(self) -> str | None:
        number = int.from_bytes(self._memory[:4], "little")
        return self._variants[number - 1] if number else None

    def _write(self, number: int) -> None:
        self._memory[:4] = number.to_bytes(4, "little")


def run_in_fork(work: Callable[[Outbox], None], *, receive: Callable[[Message], None]) -> str | None:
    """Do `work` in a forked process and hand on what it says; how the process was killed, or None where it was not.

    OrphanedError (and no process left) when standard input is a pipe and ends meanwhile: whoever holds the other end
    is gone. The caller must have started no threads and touched no device.
    """
    reading, writing = os.pipe()
    pid = _fork()
    if pid == 0:
        os.close(reading)
        _live_as_fork(work, Outbox(writing))
    os.close(writing)
    try:
        _listen(reading, receive)
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        raise
    finally:
        os.close(reading)
        _, status = os.waitpid(pid, 0)
    return _cause_of_death(status)


def _fork() -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        # Importing numpy starts OpenBLAS's threads, which survive a fork by handlers of their own; nothing else runs.
        warnings.filterwarnings("ignore", category=DeprecationWarning, message=".*multi-threaded.*")
        return os.fork()


def _live_as_fork(work: Callable[[Outbox], None], outbox: Outbox) -> NoReturn:
    """The fork's whole life; it leaves without the parent's exit handlers."""
    code = 1
    try:
        _die_with_parent()
        work(outbox)
        code = 0
    except BaseException as error:  # noqa: BLE001 - the edge of a process: whatever it was, the parent must hear of it
        traceback.print_exc()
        outbox.send(_trouble(error))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _trouble(error: BaseException) -> Trouble:
    """Errors of ours that are written for people stand alone; a broken device is the variant's doing."""
    if isinstance(error, DeviceLostError):
        return Trouble(message=str(error), kind=FailureKind.CRASHED)
    text = str(error) if isinstance(error, DeviceError) else f"{type(error).__name__}: {error}"
    return Trouble(message=" ".join(text.split()), kind=FailureKind.INTERNAL)


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == 1:
            os._exit(1)


def _listen(reading: int, receive: Callable[[Message], None]) -> None:
    """Until the other end closes."""
    poll, inbox = select.poll(), Inbox()
    poll.register(reading, select.POLLIN)
    if _is_pipe(sys.stdin.fileno()):
        poll.register(sys.stdin.fileno(), select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            piece = os.read(descriptor, 1 << 16)
            if descriptor != reading:
                if not piece:
                    raise OrphanedError("standard input has ended: the process that asked is gone")
            elif not piece:
                return
            else:
                for message in inbox.take(piece):
                    receive(message)


def _is_pipe(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _cause_of_death(status: int) -> str | None:
    if not os.WIFSIGNALED(status):
        return None
    name = signal.Signals(os.WTERMSIG(status)).name
    hint = "; the system may have run out of memory" if name == "SIGKILL" else ""
    return f"the process was killed by {name}{hint}"
