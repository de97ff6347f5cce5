"""What is said of first visits: in the answer of a walk, and in the caveat of a fixed shape."""

from __future__ import annotations

import msgspec
import pytest

from profiles.comparison.answer import answer
from profiles.comparison.caveat import caveat
from profiles.comparison.entry import MeasuredEntry, entries_of
from profiles.comparison.parts import Kind, plain
from profiles.comparison.visits import axis_noun, shape_cost, visits_sentence, walked
from profiles.results import Run, RunStatus
from profiles.visits import Visit, Walked
from tests.profiles.comparison.ladder import WORKLOAD, ladder_runs, one, results
from tests.profiles.comparison.walks import DECODE, churned, churned_runs, visited


def _said(*runs: Run) -> str:
    return plain(visits_sentence(entries_of(churned(*runs))))


def _at_new_shape(run: Run, *, first_ms: float, second_ms: float) -> Run:
    metrics = (one("first_shape", "ns", first_ms * 1e6, "single"), one("second_visit", "ns", second_ms * 1e6, "single"))
    return msgspec.structs.replace(run, metrics=(*run.metrics, *metrics))


def _fixed(*, auto: tuple[float, float] = (47.8, 0.04), flash: tuple[float, float] = (0.07, 0.04)) -> list[Run]:
    """The ladder at a fixed shape, with visits to a neighbouring one by the automatic choice and by flash."""
    runs = list(ladder_runs())
    runs[2] = _at_new_shape(runs[2], first_ms=auto[0], second_ms=auto[1])
    runs[4] = _at_new_shape(runs[4], first_ms=flash[0], second_ms=flash[1])
    return runs


def _told(runs: list[Run]) -> str | None:
    found = caveat(entries_of(results(*runs)))
    return None if found is None else f"{found.label}. {plain(found.parts)}"


def test_the_answer_of_a_walk_begins_with_the_dearest_and_the_cheapest_visit() -> None:
    told = answer(entries_of(churned()))
    assert told.text.startswith(
        "At each new KV length sdpa_auto costs 47.8 ms once, then 0.04 ms, and so does sdpa_cudnn; sdpa_flash costs "
        "0.04 at once. sdpa_auto is "
    )
    assert next(part.text for part in told.parts if part.kind is Kind.STRONG) == "47.8 ms"


def test_without_a_walk_the_answer_is_as_it_was() -> None:
    assert visits_sentence(entries_of(results(*ladder_runs()))) == ()
    assert answer(entries_of(results(*ladder_runs()))).text.startswith("sdpa_auto is ")


def test_visits_that_differ_by_less_than_noise_cost_nobody_anything() -> None:
    runs = ladder_runs()
    flash, efficient = visited(runs[4], first_ms=0.041), visited(runs[5], first_ms=0.05)
    assert _said(flash, efficient) == (
        "No variant pays for a new KV length: the first visit takes about as long as the second "
        "(sdpa_efficient 50.0 µs, then 40.0)."
    )


def test_who_is_about_as_dear_is_named_beside_the_first() -> None:
    runs = ladder_runs()
    auto, cudnn = visited(runs[2], first_ms=36.3, second_ms=0.14), visited(runs[6], first_ms=37.0, second_ms=0.15)
    assert (runs[2].variant, runs[6].variant) == ("sdpa_auto", "sdpa_cudnn")
    assert _said(auto, cudnn, visited(runs[4], first_ms=0.053, second_ms=0.048)) == (
        "At each new KV length sdpa_auto costs 36.3 ms once, then 0.14 ms, and so does sdpa_cudnn; "
        "sdpa_flash costs 0.053 at once."
    )


def test_a_variant_that_was_walked_alone_is_told_alone() -> None:
    assert _said(visited(ladder_runs()[2], first_ms=47.8)) == (
        "At each new KV length sdpa_auto costs 47.8 ms once, then 0.04 ms."
    )


def test_where_all_pay_the_cheapest_is_told_with_its_second_visit_too() -> None:
    runs = ladder_runs()
    assert _said(visited(runs[2], first_ms=47.8), visited(runs[4], first_ms=2.5, second_ms=0.5)) == (
        "At each new KV length sdpa_auto costs 47.8 ms once, then 0.04 ms; sdpa_flash costs 2.50 once, then 0.50."
    )


def test_a_compilation_of_seconds_stands_beside_milliseconds_in_their_own_unit() -> None:
    runs = ladder_runs()
    compiled, eager = visited(runs[2], first_ms=2140, second_ms=0.41), visited(runs[4], first_ms=0.7, second_ms=0.6)
    assert _said(compiled, eager) == (
        "At each new KV length sdpa_auto costs 2.14 s once, then 410.0 µs; sdpa_flash costs 700.0 µs at once."
    )


def test_a_slow_variant_that_pays_little_is_not_the_dearest() -> None:
    """naive's first visits are the longest, by its own length: what they cost more is what counts."""
    runs = ladder_runs()
    naive, auto = visited(runs[0], first_ms=60.0, second_ms=55.0), visited(runs[2], first_ms=47.8)
    assert _said(naive, auto) == "At each new KV length sdpa_auto costs 47.8 ms once, then 0.04 ms."


def test_the_medians_do_not_see_one_visit_that_was_disturbed() -> None:
    quiet = visited(ladder_runs()[4], first_ms=0.04)
    assert quiet.visits is not None
    disturbed = (Visit(value=500, first_ns=90_000_000, second_ns=40_000), *quiet.visits.visits)
    run = msgspec.structs.replace(quiet, visits=Walked(axis="seq_kv", visits=disturbed))
    assert not walked(entries_of(churned(run)))[0].pays


def test_incorrect_variants_and_impossible_visits_are_left_out() -> None:
    runs = churned_runs()
    wrong = msgspec.structs.replace(runs[2], status=RunStatus.INCORRECT)
    empty = msgspec.structs.replace(runs[4], visits=Walked(axis="seq_kv", visits=()))
    zero = Walked(axis="seq_kv", visits=(Visit(value=512, first_ns=0, second_ns=-1),))
    assert walked(entries_of(churned(wrong, empty, msgspec.structs.replace(runs[5], visits=zero)))) == ()


@pytest.mark.parametrize(
    ("axis", "noun"),
    [("seq_kv", "KV length"), ("seq_q", "query length"), ("heads", "head count"), ("<b>", "<b>")],
)
def test_axes_are_named_as_people_say_them(axis: str, noun: str) -> None:
    assert axis_noun(DECODE, axis) == noun


def test_queries_and_keys_that_grow_together_are_a_sequence() -> None:
    assert axis_noun(WORKLOAD, "seq_q") == "sequence length"


def test_a_winner_that_pays_at_each_new_shape_is_told_beside_one_that_does_not() -> None:
    assert _told(_fixed()) == (
        "Before you choose it. The winner holds for a fixed shape only. At each new shape sdpa_auto costs 47.8 ms "
        "once, then 0.04; sdpa_flash costs 0.07 at once."
    )


@pytest.mark.parametrize(
    ("auto", "flash"),
    [
        ((0.9, 0.04), (0.07, 0.04)),  # under a millisecond
        ((4.0, 0.5), (0.07, 0.04)),  # eight times as long
        ((47.8, 0.04), (47.0, 0.04)),  # the other pays too
    ],
)
def test_a_new_shape_that_costs_little_or_costs_all_is_no_caveat(
    auto: tuple[float, float], flash: tuple[float, float]
) -> None:
    assert _told(_fixed(auto=auto, flash=flash)) is None


def test_a_much_slower_variant_is_no_way_out_of_dear_visits() -> None:
    runs = list(ladder_runs())
    runs[2] = _at_new_shape(runs[2], first_ms=47.8, second_ms=0.04)
    runs[5] = _at_new_shape(runs[5], first_ms=0.07, second_ms=0.04)  # 3.3 times as long
    assert _told(runs) is None


def test_a_walk_has_said_it_already() -> None:
    fixed = _fixed()
    fixed[2] = visited(fixed[2], first_ms=47.8)
    assert _told(fixed) is None


def test_visits_that_a_file_says_took_no_time_cost_nothing() -> None:
    (entry,) = _entries(_at_new_shape(ladder_runs()[2], first_ms=47.8, second_ms=0.0))
    assert shape_cost(entry) is None


def _entries(*runs: Run) -> tuple[MeasuredEntry, ...]:
    return entries_of(results(*runs))
