"""What is kept is made once, however many threads ask for it, and again after a failure."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Lock

import pytest

from app.timeline.kept import kept

ASKING = 8


def test_threads_that_ask_at_the_same_time_share_one_result() -> None:
    made: list[int] = []
    together, guard = Barrier(ASKING), Lock()

    @kept(4)
    def square(number: int) -> int:
        with guard:
            made.append(number)
        Event().wait(0.05)
        return number * number

    def ask(number: int) -> int:
        together.wait()
        return square(number)

    with ThreadPoolExecutor(ASKING) as pool:
        assert list(pool.map(ask, [3, 5] * (ASKING // 2))) == [9, 25] * (ASKING // 2)
    assert sorted(made) == [3, 5]


def test_the_oldest_is_forgotten_and_a_failure_is_not_kept() -> None:
    made: list[int] = []

    @kept(2)
    def half(number: int) -> int:
        made.append(number)
        if number % 2 and made.count(number) == 1:
            raise ValueError(number)
        return number // 2

    assert [half(2), half(4), half(6), half(6), half(2)] == [1, 2, 3, 3, 1]
    assert made == [2, 4, 6, 2]
    with pytest.raises(ValueError, match="7"):
        half(7)
    assert half(7) == 3
