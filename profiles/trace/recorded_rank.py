"""The rank that a trace is of, with the time that it was recorded at."""

from __future__ import annotations

import msgspec
import numpy as np

from profiles.trace.model import GPU_KINDS, Trace
from profiles.trace.ranks import Rank

_YEAR_2010_NS, _YEAR_2100_NS = 1_262_304_000 * 10**9, 4_102_444_800 * 10**9


def recorded_rank(trace: Trace) -> Rank | None:
    """The times of the GPU's work, else of all that there is; untold where the clock does not count from 1970."""
    slices = trace.slices
    rows = slices.of(*GPU_KINDS)
    rows = rows if len(rows) else np.arange(len(slices))
    if trace.rank is None or not len(rows):
        return trace.rank
    start, end = trace.epoch_ns + int(slices.start_ns[rows].min()), trace.epoch_ns + int(slices.ends_ns(rows).max())
    if not _YEAR_2010_NS < start < end < _YEAR_2100_NS:
        return trace.rank
    return msgspec.structs.replace(trace.rank, started_ns=start, ended_ns=end)
