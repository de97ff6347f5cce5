"""The measuring child on a device whose ceilings cannot be measured: `python -m tests.profiles.measure.no_ceilings`."""

from __future__ import annotations

import sys

from profiles.measure import trial
from profiles.measure.__main__ import main
from profiles.measure.messages import Outbox


def _fails(device: str, window_ns: float, outbox: Outbox) -> None:
    raise RuntimeError(f"no ceilings today, neither of {device} nor through {outbox}, {window_ns}")


trial.tell_ceilings = _fails  # type: ignore[attr-defined]

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
