"""How often things happen in a worker, in seconds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """`beat_s`: a running trial extends its lease, and hears of a cancellation. `lease_s`: how long it stays a silent
    worker's. `reap_s`: the worker says that it is there, and looks for trials to send again. `stale_s`: how long a
    trial waits before its message may count as lost. `progress_s`: the least time between two notes of one phase.
    """

    beat_s: float = 1.0
    lease_s: float = 20.0
    reap_s: float = 5.0
    stale_s: float = 30.0
    progress_s: float = 0.5
