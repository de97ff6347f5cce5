"""Two sequences laid side by side in order, as well as their features agree; what could as well lie elsewhere is told.

Dynamic programming with free gaps: O(n·m) steps of numpy, within a band once that is more than `MOST_CELLS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.int32]
Codes = npt.NDArray[np.int64]
Score = Callable[[int, int, int], Scores]

MOST_CELLS = 6_000_000


@dataclass(frozen=True, slots=True)
class Aligned:
    """`pairs` are places of both, rising. Those where another alignment, as good, pairs one of both with something of
    another kind are not among them, but in `ambiguous`."""

    pairs: tuple[tuple[int, int], ...]
    ambiguous: tuple[tuple[int, int], ...]


def align(score: Score, kinds: tuple[Codes, Codes]) -> Aligned:
    """`score(i, low, high)` has what pairing place `i` of the first with each of `low … high` of the second is worth:
    0 for what must not be paired. `kinds` number, for each side, what is interchangeable."""
    first, second = len(kinds[0]), len(kinds[1])
    band = _Band(first, second)
    forward = _forward(score, band)
    pairs = _best_pairs(score, band, forward)
    doubtful = _doubtful(score, band, forward, kinds)
    unsure = [pair for pair in pairs if doubtful[0][pair[0]] or doubtful[1][pair[1]]]
    left_out = set(unsure)
    return Aligned(tuple(pair for pair in pairs if pair not in left_out), tuple(unsure))


class _Band:
    """Which places of the second sequence are looked at for each of the first: all, or those near the same share of
    the way through."""

    def __init__(self, first: int, second: int) -> None:
        self.first, self.second = first, second
        centre = (np.arange(first + 1) * second) // max(first, 1)
        half = second if first * second <= MOST_CELLS else max(MOST_CELLS // (2 * max(first, 1)), second // first + 1)
        self.low = np.maximum(centre - half, 0)
        self.high = np.minimum(centre + half, second)
        self.low[0], self.high[first] = 0, second

    def row(self, at: int) -> tuple[int, int]:
        """Bounds of the columns 0 … `second`, both included, of one row."""
        return int(self.low[at]), int(self.high[at])


def _forward(score: Score, band: _Band) -> list[Scores]:
    """Row i, column j: the best that the first i and the first j places reach; columns within the band. Pairing what is
    worth 0 is no better than leaving both out, so that it does no harm here."""
    low, high = band.row(0)
    rows = [np.zeros(high - low + 1, np.int32)]
    for at in range(1, band.first + 1):
        before = (low, high)
        low, high = band.row(at)
        up = _read(rows[-1], before, low, high)
        paired = _read(rows[-1], before, low - 1, high - 1)
        worth = _worth(score, at - 1, low, high)
        rows.append(np.maximum.accumulate(np.maximum(up, paired + worth)))
    return rows


def _worth(score: Score, place: int, low: int, high: int) -> Scores:
    """Of pairing `place` with the place before each of the columns `low … high`; 0 for column 0, which has none."""
    start = max(low, 1)
    found = score(place, start - 1, high - 1) if high >= start else np.zeros(0, np.int32)
    return found if start == low else np.concatenate([np.zeros(1, np.int32), found])


def _read(row: Scores, bounds: tuple[int, int], low: int, high: int) -> Scores:
    """Columns `low … high` of a row that has `bounds`: to its right what its last one has, to its left nothing (0)."""
    return _padded(row, bounds, low, high, left=0, right=int(row[-1]))


def _padded(row: Scores, bounds: tuple[int, int], low: int, high: int, *, left: int, right: int) -> Scores:
    first, last = bounds
    if first <= low and high <= last:
        return row[low - first : high - first + 1]
    inside = row[max(low - first, 0) : max(high - first + 1, 0)]
    outside = high - low + 1 - len(inside)
    ahead = min(max(first - low, 0), outside)
    return np.concatenate(
        [np.full(ahead, left, np.int32), inside, np.full(outside - ahead, right, np.int32)], dtype=np.int32
    )


def _best_pairs(score: Score, band: _Band, forward: list[Scores]) -> list[tuple[int, int]]:
    """From the end; where several alignments are as good, the one that pairs the latest."""
    pairs: list[tuple[int, int]] = []
    at, column = band.first, band.second
    while at > 0 and column > 0:
        best = _value(band, forward, at, column)
        low, high = band.row(at)
        worth = int(score(at - 1, column - 1, column - 1)[0]) if low <= column <= high else 0
        if worth and _value(band, forward, at - 1, column - 1) + worth == best:
            pairs.append((at - 1, column - 1))
            at, column = at - 1, column - 1
        elif _value(band, forward, at - 1, column) == best:
            at -= 1
        else:
            column -= 1
    return pairs[::-1]


def _value(band: _Band, forward: list[Scores], at: int, column: int) -> int:
    return int(_read(forward[at], band.row(at), column, column)[0])


def _doubtful(
    score: Score, band: _Band, forward: list[Scores], kinds: tuple[Codes, Codes]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Which places of each side some best alignment pairs with one kind, and another one with another."""
    rows, columns = np.zeros(band.first, np.bool_), np.zeros(band.second, np.bool_)
    partner = np.full(band.second, -1, np.int64)
    total = _value(band, forward, band.first, band.second)
    low, high = band.row(band.first)
    after = np.zeros(high - low + 1, np.int32)
    for at in range(band.first - 1, -1, -1):
        bounds, after_bounds = band.row(at), (low, high)
        low, high = band.row(at + 1)
        worth = _worth(score, at, low, high)
        reached = _read(forward[at], bounds, low - 1, high - 1) + worth + _read_back(after, after_bounds, low, high)
        found = np.flatnonzero((worth > 0) & (reached == total)) + low - 1
        if len(found):
            mine = kinds[1][found]
            rows[at] = bool((mine != mine[0]).any())
            met = partner[found]
            columns[found[(met != -1) & (met != kinds[0][at])]] = True
            partner[found] = kinds[0][at]
        after = _backward_row(worth, band, at, after)
        low, high = bounds
    return rows, columns


def _backward_row(worth: Scores, band: _Band, at: int, after: Scores) -> Scores:
    """Column j: the best that the places from `at` and from j on reach; `worth` is of the columns of `after`, each with
    the place before it."""
    low, high = band.row(at)
    bounds = band.row(at + 1)
    down = _read_back(after, bounds, low, high)
    paired = _padded(worth + after, bounds, low + 1, high + 1, left=0, right=0)
    best: Scores = np.maximum.accumulate(np.maximum(down, paired)[::-1])[::-1]
    return best


def _read_back(row: Scores, bounds: tuple[int, int], low: int, high: int) -> Scores:
    """Columns `low … high` of what is reached from there on: to the left what the first has, to the right nothing."""
    return _padded(row, bounds, low, high, left=int(row[0]), right=0)
