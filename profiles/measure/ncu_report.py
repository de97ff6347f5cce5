"""What Nsight Compute prints with `--csv --page raw`: one line per kernel under a line of names and a line of units.

Source: Nsight Compute CLI documentation, "Command Line Options, Console Output", and the metrics reference.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from profiles.results import DeepKernel

DURATION = "gpu__time_duration.sum"
COMPUTE = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
MEMORY = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
READ = "dram__bytes_read.sum"
WRITTEN = "dram__bytes_write.sum"
OCCUPANCY = "sm__warps_active.avg.pct_of_peak_sustained_active"
REGISTERS = "launch__registers_per_thread"
METRICS = (DURATION, COMPUTE, MEMORY, READ, WRITTEN, OCCUPANCY, REGISTERS)

_NAME = "Kernel Name"
# Base units are asked for; versions write them differently, and older ones scale them all the same.
_UNITS = {
    **{"ns": 1.0, "nsecond": 1.0, "us": 1e3, "usecond": 1e3, "ms": 1e6, "msecond": 1e6, "s": 1e9, "second": 1e9},
    **{"byte": 1.0, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "Tbyte": 1e12},
}
_ERROR = re.compile(r"^==ERROR== (?P<text>.+)$", re.MULTILINE)
_NO_PERMISSION = "ERR_NVGPUCTRPERM"


class ReportError(ValueError):
    """A report without kernels; the message says why."""


def kernels(text: str) -> tuple[DeepKernel, ...]:
    """In order of launch. ReportError where there are none, with the tool's own words."""
    start = re.search(r'^"ID",', text, re.MULTILINE)
    if start is None:
        raise ReportError(_why(text))
    lines = [line for line in text[start.start() :].splitlines() if line.startswith('"')]
    head, *rest = csv.reader(io.StringIO("\n".join(lines)))
    if _NAME not in head or len(rest) < 2:
        raise ReportError(f"its report lists no kernel: {_short(text)}")
    units, *rows = rest
    return tuple(_kernel(head, units, row) for row in rows if len(row) == len(head))


def _kernel(head: Sequence[str], units: Sequence[str], row: Sequence[str]) -> DeepKernel:
    unit = dict(zip(head, units, strict=True))
    value = dict(zip(head, row, strict=True))

    def number(metric: str) -> float | None:
        found = _number(value.get(metric, ""))
        return None if found is None else found * _UNITS.get(unit.get(metric, ""), 1.0)

    registers = number(REGISTERS)
    return DeepKernel(
        name=value.get(_NAME, ""),
        duration_ns=number(DURATION),
        compute_percent=number(COMPUTE),
        memory_percent=number(MEMORY),
        dram_read_bytes=number(READ),
        dram_written_bytes=number(WRITTEN),
        occupancy_percent=number(OCCUPANCY),
        registers=None if registers is None else int(registers),
    )


def _number(text: str) -> float | None:
    """Thousands are separated by commas; what a device does not count is `n/a` or `nan`."""
    try:
        number = float(text.replace(",", ""))
    except ValueError:
        return None
    return number if number >= 0 and number != float("inf") else None


def _why(text: str) -> str:
    if _NO_PERMISSION in text:
        return (
            f"{_NO_PERMISSION}: this user may not read the GPU's performance counters; an administrator can allow it"
            " (developer.nvidia.com/ERR_NVGPUCTRPERM)"
        )
    if error := _ERROR.search(text):
        return error["text"].strip()
    if "No kernels were profiled" in text:
        return "no kernel was profiled"
    return f"it printed no report: {_short(text)}"


def _short(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "nothing at all"
