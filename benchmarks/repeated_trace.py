"""A large trace made from a real one: its events repeated, each time later and with other correlation ids.

`python repeated_trace.py SOURCE TARGET TIMES` prints the bytes of text.
"""

from __future__ import annotations

import gzip
import re
import sys
from pathlib import Path

_NUMBER = re.compile(rb'("(?:ts|correlation|External id|id)": ?)(\d+)')
_STEP = re.compile(rb"(ProfilerStep#)(\d+)")
_EVENTS = b'"traceEvents": ['
SHIFT_US, SHIFT_IDS, SHIFT_STEPS = 2_000_000, 1_000_000, 1_000


def write_repeated(source: Path, target: Path, *, times: int) -> int:
    """Write gzip JSON whose list of events is that of `source`, `times` over; the bytes of text. The surroundings are
    written once."""
    text = gzip.decompress(source.read_bytes())
    begin = text.index(_EVENTS) + len(_EVENTS)
    end = text.rindex(b"]")
    size = 0
    with gzip.open(target, "wb", compresslevel=1) as file:
        size += file.write(text[:begin])
        for turn in range(times):
            size += file.write(b"," if turn else b"")
            size += file.write(_moved(text[begin:end], turn))
        size += file.write(text[end:])
    return size


def _moved(events: bytes, turn: int) -> bytes:
    def number(found: re.Match[bytes]) -> bytes:
        step = SHIFT_US if found[1].startswith(b'"ts"') else SHIFT_IDS
        return b"%b%d" % (found[1], int(found[2]) + turn * step)

    def step_number(found: re.Match[bytes]) -> bytes:
        return b"%b%d" % (found[1], int(found[2]) + turn * SHIFT_STEPS)

    return _STEP.sub(step_number, _NUMBER.sub(number, events))


if __name__ == "__main__":
    print(write_repeated(Path(sys.argv[1]), Path(sys.argv[2]), times=int(sys.argv[3])))
