"""Builds on a CPU: fresh memory with equal values, copies that rotate, and what a policy rewrites."""

from __future__ import annotations

import gc
import weakref
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from profiles.measure import rotation
from profiles.measure.builds import MOST_CAPTURES, Builds, Place
from profiles.measure.cache_policy import CacheState
from profiles.measure.rotation import MOST_COPIES, activations, copied, copies_needed, size_bytes, tensors, weights
from profiles.measure.subject import Subject
from profiles.plan import CachePolicy
from tests.profiles.measure.given_subjects import subject_of

CPU = torch.device("cpu")
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Inputs:
    x: Tensor
    weight: nn.Parameter
    mask: Tensor
    model: nn.Linear


def inputs(size: int = 1000) -> Inputs:
    generator = torch.Generator().manual_seed(3)
    model = nn.Linear(4, 4)
    model.register_buffer("scale", torch.ones(4))
    weight = nn.Parameter(torch.randn(size, generator=generator), requires_grad=False)
    return Inputs(torch.randn(size, generator=generator), weight, torch.ones(size, dtype=torch.bool), model)


def subject(variant: str = "naive") -> Subject:
    return subject_of(lambda i: i.x * i.weight, variant=variant)


def addresses(place: Place) -> set[int]:
    return {tensor.data_ptr() for s in place.subjects for tensor in tensors(s.inputs)}


# --- builds ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [100, 1000, 1 << 18])  # small blocks of the heap, and pages of their own
def test_every_build_and_candidate_has_memory_of_its_own_with_equal_values(size: int) -> None:
    template = inputs(size)
    builds = Builds(CPU, CacheState(CPU, CachePolicy.WARM), template)
    places = [place for build in range(8) for place in builds.places(build, [subject(), subject("other")])]
    seen: set[int] = {tensor.data_ptr() for tensor in tensors(template)}
    for place in places:
        assert not addresses(place) & seen
        seen |= addresses(place)
        assert torch.equal(place.single.inputs.x, template.x)
        assert torch.equal(place.single.inputs.model.weight, template.model.weight)
    assert [place.build for place in places] == [build for build in range(8) for _ in range(2)]


def test_candidates_share_the_buffers_of_a_build_where_their_own_would_not_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    template = inputs()
    needed = size_bytes(tensors(template))
    monkeypatch.setattr("profiles.measure.builds.free_bytes", lambda _: 6 * needed)  # a quarter holds one, not two
    first, second = Builds(CPU, CacheState(CPU, CachePolicy.WARM), template).places(0, [subject(), subject("other")])
    assert addresses(first) == addresses(second)


def test_inputs_that_fit_only_once_are_used_as_they_are_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    template = inputs()
    monkeypatch.setattr("profiles.measure.builds.free_bytes", lambda _: size_bytes(tensors(template)))
    builds = Builds(CPU, CacheState(CPU, CachePolicy.WARM), template)
    places = [place for build in range(2) for place in builds.places(build, [subject()])]
    assert all(place.single.inputs is template for place in places)
    assert list(builds.notes(subject())) == ["not every build had buffers of its own: there is no memory for others"]


def test_memory_that_somebody_else_took_meanwhile_ends_no_trial() -> None:
    """Copying runs out of memory though enough was free when it was asked."""
    template = inputs()
    builds = Builds(CPU, TakenByOthers(CPU, CachePolicy.WARM), template)
    (place,) = builds.places(0, [subject()])
    assert place.single.inputs is template
    assert not builds.fresh


class TakenByOthers(CacheState):
    def copies(self, inputs: Any, **how: Any) -> list[Any]:  # noqa: ARG002 - as it is
        raise torch.OutOfMemoryError("CUDA out of memory.")


def test_buffers_of_many_builds_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight builds' worth of memory is free: an eighth of it keeps one of the past."""
    template = inputs(1 << 16)
    monkeypatch.setattr("profiles.measure.builds.free_bytes", lambda _: 8 * size_bytes(tensors(template)))
    builds = Builds(CPU, CacheState(CPU, CachePolicy.WARM), template)
    kept = []
    for build in range(6):
        (place,) = builds.places(build, [subject()])
        kept.append(weakref.ref(place.single.inputs.model))
        del place
    gc.collect()
    assert [ref() is not None for ref in kept] == [False, False, False, False, True, True]
    assert list(builds.notes(subject())) == []


# --- rotation -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "cache", "room", "copies"),
    [
        (50 * MIB, 50 * MIB, 10_000 * MIB, 3),
        (200 * MIB, 50 * MIB, 10_000 * MIB, 1),  # they outgrow the cache by themselves
        (40 * MIB, 50 * MIB, 10_000 * MIB, 4),
        (40 * MIB, 50 * MIB, 90 * MIB, 2),  # there is no room for more
        (40 * MIB, 50 * MIB, 10 * MIB, 1),
        (1024, 50 * MIB, 10_000 * MIB, MOST_COPIES),
        (0, 50 * MIB, 10_000 * MIB, 1),
    ],
)
def test_so_many_copies_rotate_that_three_caches_lie_between_two_turns(
    size: int, cache: int, room: int, copies: int
) -> None:
    assert copies_needed(size, cache_bytes=cache, room_bytes=room) == copies


def test_weights_are_what_stays_and_activations_what_was_just_written() -> None:
    i = inputs()
    assert {id(t) for t in weights(i)} == {id(t) for t in (i.weight, *i.model.parameters(), *i.model.buffers())}
    assert [id(t) for t in activations(i)] == [id(i.x)]  # a mask of booleans is no operator's output


def test_memory_that_two_tensors_share_counts_once() -> None:
    x = torch.ones(100)
    assert size_bytes([x, x[10:], x.view(10, 10)]) == 400


def test_a_copy_shares_the_tensors_that_it_is_told_to_and_no_others() -> None:
    i = inputs()
    copy = copied(i, sharing=[i.x])
    assert copy.x is i.x
    assert isinstance(copy.weight, nn.Parameter)
    assert {t.data_ptr() for t in weights(copy)}.isdisjoint({t.data_ptr() for t in weights(i)})


def test_tied_weights_stay_tied_in_a_copy() -> None:
    shared = nn.Parameter(torch.ones(4), requires_grad=False)
    first, second = copied((shared, {"again": [shared]}))
    assert first is second["again"][0]
    assert first is not shared


class OnDevice(CacheState):
    """The policy as a GPU has it, with a cache of 1 MiB, on a CPU's memory."""

    def __init__(self, policy: CachePolicy, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(CPU, policy)
        self.policy = policy
        monkeypatch.setattr("profiles.measure.cache_policy.l2_bytes", lambda _: MIB)


def copies(policy: CachePolicy, given: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    return OnDevice(policy, monkeypatch).copies(given, kept=(), room_bytes=1 << 40)


def test_cold_copies_share_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    template = inputs(1 << 16)  # 256 KiB twice and a mask of 64 KiB
    found = copies(CachePolicy.COLD, template, monkeypatch)
    assert len(found) == copies_needed(size_bytes(tensors(template)), cache_bytes=MIB, room_bytes=1 << 40) == 6
    assert len({t.data_ptr() for i in found for t in tensors(i)}) == 6 * len(tensors(template))


def test_in_context_only_the_weights_rotate(monkeypatch: pytest.MonkeyPatch) -> None:
    found = copies(CachePolicy.IN_CONTEXT, inputs(1 << 16), monkeypatch)
    assert len(found) == 12  # three caches of 1 MiB by weights of 256 KiB
    assert len({i.x.data_ptr() for i in found}) == 1
    assert len({i.weight.data_ptr() for i in found}) == 12


def test_warm_there_is_one_copy_and_a_cpu_is_always_warm(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(copies(CachePolicy.WARM, inputs(), monkeypatch)) == 1
    assert CacheState(CPU, CachePolicy.COLD).policy is CachePolicy.WARM


def test_in_context_activations_are_rewritten_with_their_own_values(monkeypatch: pytest.MonkeyPatch) -> None:
    state, i = OnDevice(CachePolicy.IN_CONTEXT, monkeypatch), inputs()
    before, rewrites = i.x.clone(), state.rewrites(i)
    i.x.zero_()
    state.prepare(rewrites)
    assert [tensor is i.x for tensor, _ in rewrites] == [True]
    assert torch.equal(i.x, before)
    assert OnDevice(CachePolicy.COLD, monkeypatch).rewrites(i) == ()


def test_calls_take_the_copies_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    state = OnDevice(CachePolicy.COLD, monkeypatch)
    (place,) = Builds(CPU, state, inputs(1 << 16)).places(0, [subject()])
    called = [id(next(place.in_turn).inputs) for _ in range(12)]
    assert called == [id(s.inputs) for s in place.subjects] * 2
    assert place.single is place.subjects[0]


def test_a_captured_variant_has_no_more_copies_made_than_it_captures(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def counted(given: Any, **kept: Any) -> Any:
        made.append(given)
        return copied(given, **kept)

    monkeypatch.setattr(rotation, "copied", counted)
    state = OnDevice(CachePolicy.COLD, monkeypatch)
    (place,) = Builds(CPU, state, inputs(1 << 12)).places(0, [subject("naive@cudagraph")])
    assert len(place.subjects) == len(made) == MOST_CAPTURES
    made.clear()
    (place,) = Builds(CPU, state, inputs(1 << 12)).places(0, [subject("naive")])
    assert len(place.subjects) == len(made) == MOST_COPIES


def test_the_most_copies_are_bounded() -> None:
    assert rotation.MOST_COPIES == 64
