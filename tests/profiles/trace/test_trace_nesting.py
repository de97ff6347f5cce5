"""Which interval is open at a moment, and which columns of numbers are different, against doing it one by one."""

from __future__ import annotations

import numpy as np
import pytest

from profiles.trace.distinct import distinct
from profiles.trace.model import ABSENT
from profiles.trace.nesting import Nesting


@pytest.mark.parametrize("count", [0, 1, 2, 3, 17, 300])
def test_the_open_interval_that_began_last_is_found_also_where_rounding_lets_one_outlast_another(count: int) -> None:
    random = np.random.default_rng(count)
    track, start = random.integers(0, 3, count), random.integers(0, 200, count)
    end = start + random.integers(0, 60, count)
    order = np.lexsort((-end, start, track))
    track, start, end = track[order], start[order], end[order]
    asked = np.arange(5 * count) % max(count, 1)
    at_ns = start[asked] + random.integers(0, 9, len(asked))
    before = np.minimum(random.integers(0, count + 1, len(asked)), np.searchsorted(track, track[asked], "right"))

    def one_by_one(place: int) -> int:
        ahead = [one for one in range(before[place]) if track[one] == track[asked[place]] and end[one] > at_ns[place]]
        return ahead[-1] if ahead else ABSENT

    found = Nesting(track, end).open_at(track=track[asked], at_ns=at_ns, before=before)
    assert found.tolist() == [one_by_one(place) for place in range(len(asked))]


@pytest.mark.parametrize("most", [3, 2**20, 2**40])
def test_different_columns_are_told_as_numpy_does_also_where_their_numbers_do_not_fit_one(most: int) -> None:
    rows = np.random.default_rng(most).choice(np.array([-1, 0, 1, most // 2, most - 1]), (4, 500))
    _, first, which, counts = np.unique(rows, axis=1, return_index=True, return_inverse=True, return_counts=True)
    found = distinct(*rows)
    assert found.first.tolist() == first.tolist()
    assert found.which.tolist() == which.reshape(-1).tolist()
    assert found.counts.tolist() == counts.tolist()
