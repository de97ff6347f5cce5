"""The operators that were open around calls, on their threads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from profiles.trace.model import ABSENT, Int64s, SliceKind, Trace

_MOST_LEVELS = 64  # of operators within operators; deeper ones are passed over


@dataclass(frozen=True, slots=True)
class OpenOperators:
    """`rows[level, n]` is the row of the operator that was open at `level` (0 the outermost) when the nth of `calls`
    began, ABSENT for none; `innermost[n]` is the deepest of them. Calls are rows, ordered."""

    calls: Int64s
    rows: Int64s

    def places(self, calls: Int64s) -> Int64s:
        """Of these calls in `calls`, which has them all; ABSENT for what is no call."""
        return np.where(calls == ABSENT, ABSENT, np.searchsorted(self.calls, calls))

    @property
    def innermost(self) -> Int64s:
        levels = np.arange(len(self.rows))[:, None]
        deepest = np.where(self.rows != ABSENT, levels, ABSENT).max(axis=0, initial=ABSENT)
        found = np.full(self.rows.shape[1], ABSENT, np.int64)
        has = np.flatnonzero(deepest != ABSENT)
        found[has] = self.rows[deepest[has], has]
        return found


def open_operators(trace: Trace, calls: Int64s) -> OpenOperators:
    """Of the calls at these rows (ABSENT among them is none). By bisection, level by level: a large trace has 100,000
    operators."""
    slices = trace.slices
    calls = np.unique(calls[calls != ABSENT])
    operators = slices.of(SliceKind.OPERATOR)
    found: list[Int64s] = [np.full(len(calls), ABSENT, np.int64)]
    for track in np.unique(slices.track[calls]).tolist():
        here = np.flatnonzero(slices.track[calls] == track)
        mine = operators[slices.track[operators] == track]
        for level, rows in enumerate(_levels(trace, mine)):
            if level == len(found):
                found.append(np.full(len(calls), ABSENT, np.int64))
            found[level][here] = _open_at(trace, rows, slices.start_ns[calls[here]])
    return OpenOperators(calls, np.stack(found))


def _levels(trace: Trace, operators: Int64s) -> list[Int64s]:
    """The operators of one thread by how many others they lie in. They come ordered by start, the longest first, so
    that of those ahead of one the ones that have ended by its start do not enclose it."""
    starts, ends = trace.slices.start_ns[operators], trace.slices.end_ns[operators]
    ended = np.searchsorted(np.sort(np.maximum(ends, starts + 1)), starts, "right")
    depth = np.maximum(np.arange(len(operators)) - ended, 0)
    return [operators[depth == level] for level in range(min(int(depth.max(initial=-1)) + 1, _MOST_LEVELS))]


def _open_at(trace: Trace, level: Int64s, times: Int64s) -> Int64s:
    """For each time the row of the operator of one level that was open then."""
    if not len(level):
        return np.full(len(times), ABSENT, np.int64)
    at = np.searchsorted(trace.slices.start_ns[level], times, "right") - 1
    rows = level[np.maximum(at, 0)]
    is_open = (at >= 0) & (trace.slices.end_ns[rows] > times)
    return np.where(is_open, rows, ABSENT)
