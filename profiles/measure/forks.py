"""One piece of work in a process of its own, forked: started in milliseconds, watched, gone when its parent goes."""

from __future__ import annotations

import mmap
import os
import select
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import NoReturn

from profiles.lifeline import die_with
from profiles.measure.device import DeviceError, DeviceLostError
from profiles.measure.messages import Inbox, Message, Outbox, Trouble
from profiles.results import FailureKind

PIECE_BYTES = 1 << 16


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


def run_in_fork(
    work: Callable[[Outbox], None], *, receive: Callable[[Message], None], silence_s: float | None = None
) -> str | None:
    """Do `work` in a forked process and hand on what it says; how the process was killed, or None where it was not.

    One that says nothing for `silence_s` seconds hangs: it is killed, and that is told as its trouble.

    The caller must have touched no device, and none of its other threads may hold a lock. Where the caller is killed,
    or `receive` raises, the forked process goes too.
    """
    reading, writing = os.pipe()
    parent = os.getpid()
    pid = _fork()
    if pid == 0:
        os.close(reading)
        _live_as_fork(work, Outbox(writing), parent)
    os.close(writing)
    try:
        inbox = Inbox()
        for piece in _pieces(reading, silence_s):
            for message in inbox.take(piece):
                receive(message)
    except _SilenceError as silence:
        os.kill(pid, signal.SIGKILL)
        receive(Trouble(message=str(silence), kind=FailureKind.TIMEOUT))
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        raise
    finally:
        os.close(reading)
        _, status = os.waitpid(pid, 0)
    return _cause_of_death(status)


class _SilenceError(Exception):
    """A forked process hangs."""


def _pieces(reading: int, silence_s: float | None) -> Iterator[bytes]:
    while silence_s is None or select.select([reading], [], [], silence_s)[0]:
        piece = os.read(reading, PIECE_BYTES)
        if not piece:
            return
        yield piece
    raise _SilenceError(f"gave no sign of life for {silence_s:g} s")


def _fork() -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        # OpenBLAS's threads (numpy) have fork handlers of their own; the lifeline's thread waits for a descriptor.
        warnings.filterwarnings("ignore", category=DeprecationWarning, message=".*multi-threaded.*")
        return os.fork()


def _live_as_fork(work: Callable[[Outbox], None], outbox: Outbox, parent: int) -> NoReturn:
    """The fork's whole life; it leaves without the parent's exit handlers."""
    code = 1
    try:
        die_with(parent)
        work(outbox)
        code = 0
    except BaseException as error:  # noqa: BLE001 - the edge of a process: whatever it was, the parent must hear of it
        if not isinstance(error, DeviceError):
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


def _cause_of_death(status: int) -> str | None:
    if not os.WIFSIGNALED(status):
        return None
    name = signal.Signals(os.WTERMSIG(status)).name
    hint = "; the system may have run out of memory" if name == "SIGKILL" else ""
    return f"the process was killed by {name}{hint}"
