"""`python -m workers DEVICE`: the worker of one device, or of traces alone (`traces`), by the settings of the
environment."""

from __future__ import annotations

import sys

from db.settings import read_settings
from workers.start import run_trace_worker, run_worker

TRACES = "traces"


def main(argv: list[str]) -> int:
    try:
        (device,) = argv
        settings = read_settings()
        return run_trace_worker(settings) if device == TRACES else run_worker(settings, device)
    except ValueError as error:
        print(f"worker: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
