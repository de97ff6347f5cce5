"""How each GPU slice was joined to the call that launched it, counted by kind."""

from __future__ import annotations

import numpy as np

from profiles.recorded import Attribution
from profiles.trace.health import Unlinked
from profiles.trace.launches import CallKind, Launches
from profiles.trace.model import ABSENT, Int64s, Trace


def attribution(trace: Trace, launches: Launches, unlinked: Unlinked, rows: Int64s) -> Attribution:
    """Of the GPU slices `rows`."""
    linked = rows[launches.call_of[rows] != ABSENT]
    correlation = trace.slices.correlation
    by_graph = int(np.isin(correlation[linked], correlation[launches.of(CallKind.GRAPH)]).sum())
    inferred = int(np.isin(rows, unlinked.earlier).sum())
    return Attribution(
        exact=len(linked) - by_graph,
        by_graph=by_graph,
        inferred=inferred,
        unknown=len(rows) - len(linked) - inferred,
    )
