"""Parse a trace in a process of its own, limited in memory and time: no file can take its reader down."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from enum import IntEnum
from pathlib import Path

import msgspec

from profiles.trace.contents import TraceContents
from profiles.trace.errors import NotWanted, TraceError, TraceTooLarge
from profiles.trace.forward import ForwardSummary
from profiles.trace.summary import TraceSummary

MEMORY_LIMIT = 2 << 30
TIME_LIMIT_S = 120.0
NO_DEVICE = "-"
SUMMARY, FORWARD, CONTENTS, TIMELINE = "summary.json", "forward.json", "contents.json", "timeline.npz"
_PROJECT = Path(__file__).parents[2]
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_ASKS_EVERY_S = 0.5  # whether anybody still wants it
_OUT_OF_TIME = (-signal.SIGXCPU, -signal.SIGKILL)


class Status(IntEnum):
    """What the child ends with when the file gives nothing."""

    NO_TRACE = 2
    TOO_LARGE = 3


class ParsedTrace(msgspec.Struct, frozen=True, kw_only=True):
    """`forward` is None when no device was given; the timeline is a file that `load_timeline` reads."""

    summary: TraceSummary
    forward: ForwardSummary | None
    contents: TraceContents
    timeline_path: Path


def parse_in_child(
    path: Path,
    *,
    device: str | None,
    directory: Path,
    memory_limit: int = MEMORY_LIMIT,
    timeout_s: float = TIME_LIMIT_S,
    unwanted: Callable[[], bool] = lambda: False,
) -> ParsedTrace:
    """Read `path` in a child that writes its results into `directory`. TraceError when the file gives no trace,
    TraceTooLarge when it is past a limit or takes more memory (bytes) or time than allowed; NotWanted, with the child
    ended, soon after `unwanted` says so."""
    command = [sys.executable, "-m", "profiles.trace", str(path.resolve()), "--device", device or NO_DEVICE]
    command += ["--output", str(directory), "--memory-limit", str(memory_limit), "--time-limit", f"{timeout_s:.0f}"]
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        cwd=directory,
        env=_environment(directory),
    ) as child:
        try:
            said = _end(child, timeout_s=timeout_s, unwanted=unwanted)
        except BaseException:
            child.kill()
            raise
    if child.returncode != 0:
        raise _failure(child.returncode, said, timeout_s)
    return _results(directory, device)


def _end(child: subprocess.Popen[str], *, timeout_s: float, unwanted: Callable[[], bool]) -> str:
    """What it said on stderr by its end."""
    deadline = time.monotonic() + timeout_s
    while not unwanted():
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise TraceTooLarge(f"reading it took longer than the limit of {timeout_s:,.0f} s")
        with suppress(subprocess.TimeoutExpired):
            return child.communicate(timeout=min(left_s, _ASKS_EVERY_S))[1]
    raise NotWanted


def _environment(directory: Path) -> dict[str, str]:
    """What the child unpacks lies in `directory` too: one that is killed leaves nothing elsewhere."""
    path = os.pathsep.join([str(_PROJECT), *_python_path()])
    return {**os.environ, **_ONE_THREAD, "PYTHONPATH": path, "TMPDIR": str(directory.resolve())}


def _python_path() -> list[str]:
    return [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]


def _failure(status: int, said: str, timeout_s: float) -> TraceError:
    if status in _OUT_OF_TIME:
        return TraceTooLarge(f"the reader was stopped by the system (limit of {timeout_s:,.0f} s, or out of memory)")
    last_line = (said.strip().splitlines() or ["it said nothing"])[-1]
    if status == Status.TOO_LARGE:
        return TraceTooLarge(last_line)
    if status == Status.NO_TRACE:
        return TraceError(last_line)
    return TraceError(f"the reader ended with status {status}: {last_line}")


def _results(directory: Path, device: str | None) -> ParsedTrace:
    forward = (directory / FORWARD).read_bytes() if device else None
    return ParsedTrace(
        summary=msgspec.json.decode((directory / SUMMARY).read_bytes(), type=TraceSummary),
        forward=msgspec.json.decode(forward, type=ForwardSummary) if forward is not None else None,
        contents=msgspec.json.decode((directory / CONTENTS).read_bytes(), type=TraceContents),
        timeline_path=directory / TIMELINE,
    )
