"""A worker for tests: `python -m tests.workers.worker_process PROGRAM…`, by the environment's settings, at their pace.

PROGRAM is the measuring program with its arguments, as the lifeline starts it; `traces` alone makes a worker that only
reads traces.
"""

from __future__ import annotations

import sys

from db.settings import read_settings
from workers.pace import Pace
from workers.start import run_trace_worker, run_worker

PACE = Pace(beat_s=0.2, lease_s=2.5, reap_s=0.3, stale_s=1.0, progress_s=0.1)


def main(program: list[str]) -> int:
    if program == ["traces"]:
        return run_trace_worker(read_settings(), pace=PACE)
    return run_worker(read_settings(), "cpu", pace=PACE, program=tuple(program))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
