"""How each GPU slice was joined to the call that launched it, counted by kind."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from profiles.recorded import Attribution
from profiles.trace.health import Unlinked
from profiles.trace.launches import CallKind, Launches
from profiles.trace.model import ABSENT, Bools, Int64s, Trace


class Joined(NamedTuple):
    """Of some slices which were joined how: one of these holds for each."""

    exact: Bools
    by_graph: Bools
    inferred: Bools
    unknown: Bools


def joined(trace: Trace, launches: Launches, unlinked: Unlinked, rows: Int64s) -> Joined:
    """Of the GPU slices `rows`."""
    linked = launches.call_of[rows] != ABSENT
    correlation = trace.slices.correlation
    by_graph = linked & np.isin(correlation[rows], correlation[launches.of(CallKind.GRAPH)])
    inferred = np.isin(rows, unlinked.earlier)
    return Joined(exact=linked & ~by_graph, by_graph=by_graph, inferred=inferred, unknown=~linked & ~inferred)


def attribution(trace: Trace, launches: Launches, unlinked: Unlinked, rows: Int64s) -> Attribution:
    """Of the GPU slices `rows` together."""
    found = joined(trace, launches, unlinked, rows)
    return Attribution(
        exact=int(found.exact.sum()),
        by_graph=int(found.by_graph.sum()),
        inferred=int(found.inferred.sum()),
        unknown=int(found.unknown.sum()),
    )
