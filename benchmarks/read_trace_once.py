"""Read one trace once in this process, imports done: `python read_trace_once.py fusescope|hta FILE`, figures as JSON.

Runs under the interpreter that has the reader: Fusescope's own, or the peer's environment of `traces.py`.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import platform
import resource
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

Reading = Callable[[Path], int | None]


def fusescope() -> Reading:
    from profiles.trace.read import read_trace  # noqa: PLC0415 - only under an interpreter that has it
    from profiles.trace.summary import summarise  # noqa: PLC0415

    return lambda path: summarise(read_trace(path)).kernels


def hta() -> Reading:
    """What it takes there to say how busy the GPU was and with which kernels."""
    from hta.trace_analysis import TraceAnalysis  # noqa: PLC0415

    def read(path: Path) -> int:
        analysis = TraceAnalysis(trace_files={0: str(path)}, trace_dir=str(path.parent))
        _, kernels = analysis.get_gpu_kernel_breakdown(visualize=False)
        analysis.get_temporal_breakdown(visualize=False)
        return len(kernels)

    return read


READERS = {"fusescope": (fusescope, ("numpy", "msgspec")), "hta": (hta, ("HolisticTraceAnalysis", "numpy", "pandas"))}


def main() -> None:
    reader, packages = READERS[sys.argv[1]]
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    read = reader()
    wall, cpu = time.perf_counter(), time.process_time()
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        read(Path(sys.argv[2]))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    versions = {"python": platform.python_version()} | {package: version(package) for package in packages}
    print(json.dumps({"wall_s": wall, "cpu_s": cpu, "peak_rss_bytes": peak_kib << 10, "versions": versions}))


if __name__ == "__main__":
    main()
