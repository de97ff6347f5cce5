"""`python -m workers DEVICE`: the worker of one device, by the settings of the environment."""

from __future__ import annotations

import sys

from db.settings import read_settings
from workers.start import run_worker


def main(argv: list[str]) -> int:
    try:
        (device,) = argv
        return run_worker(read_settings(), device)
    except ValueError as error:
        print(f"worker: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
