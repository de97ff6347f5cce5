"""How each GPU slice was joined to the call that launched it, counted by kind."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from profiles.recorded import Attribution
from profiles.trace.health import Unlinked
from profiles.trace.launches import CallKind, Launches
from profiles.trace.model import ABSENT, Bools, Int64s, Trace


class Joined(NamedTuple):
    """Of each GPU slice how it was joined: one of these holds. Of the host's slices nothing that counts."""

    exact: Bools
    by_graph: Bools
    inferred: Bools
    unknown: Bools


def joined(trace: Trace, launches: Launches, unlinked: Unlinked) -> Joined:
    """Of all slices at once: a recording may have thousands of steps and kernels to count for."""
    linked = launches.call_of != ABSENT
    correlation = trace.slices.correlation
    by_graph = linked & np.isin(correlation, correlation[launches.of(CallKind.GRAPH)])
    inferred = np.zeros(len(trace.slices), np.bool_)
    inferred[unlinked.earlier] = True
    return Joined(exact=linked & ~by_graph, by_graph=by_graph, inferred=inferred, unknown=~linked & ~inferred)


def attribution(ways: Joined, rows: Int64s) -> Attribution:
    """Of the GPU slices `rows` together."""
    return Attribution(
        exact=int(np.count_nonzero(ways.exact[rows])),
        by_graph=int(np.count_nonzero(ways.by_graph[rows])),
        inferred=int(np.count_nonzero(ways.inferred[rows])),
        unknown=int(np.count_nonzero(ways.unknown[rows])),
    )
