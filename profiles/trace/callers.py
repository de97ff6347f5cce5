"""The operators that were open around calls, on their threads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from profiles.trace.model import ABSENT, Int64s, SliceKind, Trace
from profiles.trace.nesting import Nesting

_MOST_LEVELS = 64  # of operators within operators; those further out are passed over


@dataclass(frozen=True, slots=True)
class OpenOperators:
    """`rows[level, n]` is the row of the operator that was open at `level` (0 the outermost) when the nth of `calls`
    began, ABSENT for none. Calls are rows, ordered."""

    calls: Int64s
    rows: Int64s

    def places(self, calls: Int64s) -> Int64s:
        """Of these calls in `calls`, which has them all; ABSENT for what is no call."""
        return np.where(calls == ABSENT, ABSENT, np.searchsorted(self.calls, calls))


class Operators:
    """Of one trace."""

    def __init__(self, trace: Trace) -> None:
        self._slices = slices = trace.slices
        rows = slices.of(SliceKind.OPERATOR)
        self._rows = rows[np.argsort(slices.track[rows], kind="stable")]
        self._keys = self._key(self._rows)
        self._nesting = Nesting(slices.track[self._rows], slices.ends_ns(self._rows))

    def around(self, rows: Int64s) -> Int64s:
        """For each of these slices the row of the innermost operator that it began in, itself excepted."""
        if not len(self._rows):
            return np.full(len(rows), ABSENT, np.int64)
        slices = self._slices
        before = np.searchsorted(self._keys, self._key(rows))
        found = self._nesting.open_at(track=slices.track[rows], at_ns=slices.start_ns[rows], before=before)
        return np.where(found == ABSENT, ABSENT, self._rows[found])

    def _key(self, rows: Int64s) -> Int64s:
        """By track, then place in the trace: slices come ordered by start, the longest first."""
        keys: Int64s = self._slices.track[rows] * len(self._slices) + rows
        return keys


def open_operators(trace: Trace, calls: Int64s) -> OpenOperators:
    """Of the calls at these rows (ABSENT among them is none)."""
    calls = np.unique(calls[calls != ABSENT])
    operators = Operators(trace)
    found = [operators.around(calls)]
    while len(found) < _MOST_LEVELS and (found[-1] != ABSENT).any():
        found.append(_outer(operators, found[-1]))
    return OpenOperators(calls, _from_outermost(np.stack(found)))


def _outer(operators: Operators, rows: Int64s) -> Int64s:
    """The operator right around each, looked for once where many have the same; ABSENT for none."""
    inner, which = np.unique(rows, return_inverse=True)
    outer = np.full(len(inner), ABSENT, np.int64)
    known = inner != ABSENT
    outer[known] = operators.around(inner[known])
    return outer[which]


def _from_outermost(found: Int64s) -> Int64s:
    """The innermost come first: each has as many around it as follow."""
    levels = (found != ABSENT).sum(axis=0)
    rows = np.full_like(found, ABSENT)
    for inward, row in enumerate(found):
        known = np.flatnonzero(row != ABSENT)
        rows[levels[known] - 1 - inward, known] = row[known]
    return rows
