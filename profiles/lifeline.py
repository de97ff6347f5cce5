"""Ties a process's life to its parent's, so that no kill -9 leaves anything running.

`python -m profiles.lifeline PARENT module NAME ARGS…` runs a Python module, `… exec PROGRAM ARGS…` becomes another
program. Linux kills the process when its parent dies (PR_SET_PDEATHSIG). A module is also ended, with its process
group, when its standard input closes, which works everywhere.
"""

from __future__ import annotations

import ctypes
import os
import runpy
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

PR_SET_PDEATHSIG = 1


def command(mode: str, *args: str) -> list[str]:
    """The command line by which the calling process starts `args` tied to itself; `mode` is `module` or `exec`.

    The thread that starts it must outlive it: Linux takes that thread for the parent.
    """
    return [sys.executable, "-P", "-m", "profiles.lifeline", str(os.getpid()), mode, *args]


def environment(**extra: str) -> dict[str, str]:
    """This process's environment, with the project importable from any working directory."""
    root = str(Path(__file__).resolve().parent.parent)
    inherited = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{inherited}" if inherited else root, **extra}


def die_with(parent: int) -> None:
    """Have Linux kill this process when `parent`, which started it, dies; exits at once when that has happened."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the line above
        os._exit(1)


def die_with_stdin() -> None:
    """End this process, and the group that it leads, when standard input closes."""
    threading.Thread(target=_wait_for_end_of_stdin, name="lifeline", daemon=True).start()


def main(argv: Sequence[str]) -> None:
    parent, mode, target, *args = argv
    die_with(int(parent))
    if mode == "exec":
        os.execvp(target, [target, *args])  # noqa: S606 - a list, no shell
    die_with_stdin()
    sys.argv = [target, *args]
    runpy.run_module(target, run_name="__main__", alter_sys=True)


def _wait_for_end_of_stdin() -> None:
    while os.read(0, 4096):
        pass
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1:])
