"""`python -m profiles.trace FILE`: the parse child. Writes what the trace says into a directory.

Exit status 0; 2 with one line on stderr when the file gives no trace, 3 when it is past one of the limits.
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import sys
from pathlib import Path

import msgspec

from profiles.lifeline import die_with
from profiles.trace.causes import find_causes
from profiles.trace.child import CONTENTS, FORWARD, MEMORY_LIMIT, NO_DEVICE, SUMMARY, TIME_LIMIT_S, TIMELINE, Status
from profiles.trace.contents import contents
from profiles.trace.errors import TraceError, TraceTooLarge
from profiles.trace.forward import per_forward
from profiles.trace.launches import find_launches
from profiles.trace.limits import trace_limits
from profiles.trace.read import read_trace
from profiles.trace.summary import summarise
from profiles.trace.timeline import save_timeline, timeline


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m profiles.trace", description="Read a trace into a directory.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--output", type=Path, required=True, help="the directory to write into")
    parser.add_argument("--device", default=NO_DEVICE, help="cpu or cuda:N: also say what a forward pass does there")
    parser.add_argument("--memory-limit", type=int, default=MEMORY_LIMIT, metavar="BYTES")
    parser.add_argument("--time-limit", type=int, default=int(TIME_LIMIT_S), metavar="SECONDS")
    asked = parser.parse_args()
    die_with(os.getppid())
    gc.disable()  # a process that reads one file and ends leaves nothing behind that refers to itself
    limit_this_process(memory_bytes=asked.memory_limit, time_s=asked.time_limit)
    try:
        _parse(asked.file, device=asked.device, output=asked.output)
    except MemoryError:
        return _refuse(TraceTooLarge(f"reading it takes more than the limit of {asked.memory_limit:,} bytes of memory"))
    except (TraceError, OSError) as error:
        return _refuse(error)
    return 0


def limit_this_process(*, memory_bytes: int, time_s: int) -> None:
    """macOS refuses any limit on address space (EINVAL, github.com/python/cpython/issues/78783): there the limits on
    the file's size and on time hold alone."""
    if sys.platform != "darwin":
        _limit(resource.RLIMIT_AS, memory_bytes)
    _limit(resource.RLIMIT_CPU, max(1, time_s))


def _parse(file: Path, *, device: str, output: Path) -> None:
    trace = read_trace(file, limits=trace_limits())
    causes = find_causes(trace, find_launches(trace))
    (output / SUMMARY).write_bytes(msgspec.json.encode(summarise(trace)))
    if device != NO_DEVICE:
        (output / FORWARD).write_bytes(msgspec.json.encode(per_forward(trace, device=device, causes=causes)))
    (output / CONTENTS).write_bytes(msgspec.json.encode(contents(trace, causes)))
    save_timeline(timeline(trace, causes), output / TIMELINE)


def _limit(kind: int, value: int) -> None:
    """No more than the hard limit that may be there already, which only a privileged process could raise."""
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def _refuse(error: Exception) -> int:
    print(str(error).replace("\n", " "), file=sys.stderr)
    return Status.TOO_LARGE if isinstance(error, TraceTooLarge) else Status.NO_TRACE


if __name__ == "__main__":
    sys.exit(main())
