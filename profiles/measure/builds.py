"""Builds, the replicates of timing: equal values in fresh memory for every candidate, again and again.

Where buffers lie decides a share of what a call takes, and no number of rounds over the same buffers averages it out.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import torch

from profiles.measure import rotation
from profiles.measure.cache_policy import CacheState, Rewrites
from profiles.measure.subject import Subject
from profiles.variant import Execution, parse_variant

SHARE_FOR_BUFFERS = 4  # a quarter of what is free; beyond that the candidates of a build share their buffers
SHARE_FOR_THE_PAST = 8
MOST_CAPTURES = 8  # of `cudagraph`: each copy of the inputs has a graph with a memory pool of its own


@dataclass(frozen=True, slots=True)
class Place:
    """A candidate within one build: itself on copies of the inputs, which calls back to back take in turn."""

    build: int
    subjects: tuple[Subject, ...]
    in_turn: Iterator[Subject]
    rewrites: Rewrites

    @property
    def single(self) -> Subject:
        return self.subjects[0]

    @contextmanager
    def context(self) -> Iterator[None]:
        """Of every copy: contexts may differ by inputs."""
        with ExitStack() as contexts:
            for subject in self.subjects:
                contexts.enter_context(subject.context())
            yield


class Builds:
    """Makes the places of one build after the other.

    Past builds' buffers are kept as long as memory is plenty: an allocator would hand the same addresses out again.
    `fresh` is False once inputs were used as they are, since there was no memory for copies.
    """

    def __init__(self, device: torch.device, cache: CacheState, template: Any) -> None:
        """`template` are inputs whose values every build has. Calls between now and the first build show what memory
        they need."""
        self._device, self._cache, self._template = device, cache, template
        self._size = rotation.size_bytes(rotation.tensors(template))
        self._past: deque[tuple[list[Any], int]] = deque()
        self._tidy = device.type == "cuda"
        self._for_calls: int | None = None
        self.fresh = True
        if self._tidy:
            torch.cuda.reset_peak_memory_stats(device)  # checks held references and poison: calls need neither

    def places(self, build: int, subjects: Sequence[Subject]) -> list[Place]:
        """One for each of the subjects, in their order; all on the template where there is no memory for more."""
        room = self._make_room() // SHARE_FOR_BUFFERS
        if self._size <= SHARE_FOR_BUFFERS // 2 * room:
            try:
                return self._with_buffers(build, subjects, room)
            except torch.OutOfMemoryError:  # somebody else uses the device too; no candidate is to blame
                self._past.clear()
        self.fresh = False
        return [self._place(build, subject, [self._template]) for subject in subjects]

    def _with_buffers(self, build: int, subjects: Sequence[Subject], room: int) -> list[Place]:
        """Each with buffers of its own, or all with the same ones where those would not fit."""
        first = self._copies(subjects[0], room)
        size = rotation.size_bytes(t for inputs in first for t in rotation.tensors(inputs))
        if size * len(subjects) <= room:
            sets = [first, *(self._copies(subject, room) for subject in subjects[1:])]
            self._past.append((sets, size * len(sets)))
        else:
            sets = [first] * len(subjects)
            self._past.append((sets, size))
        return [self._place(build, subject, copies) for subject, copies in zip(subjects, sets, strict=True)]

    def leave_cache(self) -> None:
        """From now on the allocator keeps its unused blocks: after a failed capture it may not be able to part."""
        self._tidy = False

    def notes(self, subject: Subject) -> Iterator[str]:
        if not self.fresh:
            yield "not every build had buffers of its own: there is no memory for others"
        elif self._keeps_weights(subject):
            yield "the weights keep their addresses in all builds: the graphs that torch records read them there"

    def _keeps_weights(self, subject: Subject) -> bool:
        """Graphs that torch records read the weights in place, and would be recorded anew for every other address."""
        execution = parse_variant(subject.variant).execution
        return self._device.type == "cuda" and execution.compiles and execution.asks_for_graphs

    def _copies(self, subject: Subject, room: int) -> list[Any]:
        kept = rotation.weights(self._template) if self._keeps_weights(subject) else ()
        captured = parse_variant(subject.variant).execution is Execution.CUDAGRAPH
        most = MOST_CAPTURES if captured else rotation.MOST_COPIES
        return self._cache.copies(self._template, kept=kept, room_bytes=room // 2, most=most)

    def _place(self, build: int, subject: Subject, copies: Sequence[Any]) -> Place:
        there = tuple(subject.on(inputs) for inputs in copies)
        return Place(build, there, cycle(there), self._cache.rewrites(copies[0]))

    def _make_room(self) -> int:
        """Forget the oldest builds, all but the last, while they take more than their share; the bytes that are free.

        What the calls themselves have needed so far is left to them.
        """
        if self._for_calls is None:
            self._for_calls = needed_by_calls(self._device)
        allowed = max(0, free_bytes(self._device) - self._for_calls) // SHARE_FOR_THE_PAST
        while len(self._past) > 1 and sum(size for _, size in self._past) > allowed:
            self._past.popleft()
        if self._past and self._past[-1][1] > allowed:
            self._past.clear()
        if self._tidy:
            torch.cuda.empty_cache()
        return max(0, free_bytes(self._device) - self._for_calls)


def free_bytes(device: torch.device) -> int:
    """What can still be allocated on the device, roughly."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        held = torch.cuda.memory_stats_as_nested_dict(device)  # the flat one takes longer to make than all the rest
        return int(free) + _current(held, "reserved_bytes") - _current(held, "allocated_bytes")
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except FileNotFoundError:  # macOS
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))


def _current(stats: dict[str, Any], name: str) -> int:
    """0 where nothing was allocated yet."""
    return int(stats.get(name, {}).get("all", {}).get("current", 0))


def needed_by_calls(device: torch.device) -> int:
    """The most that was allocated beyond what is there now: outputs and intermediates; a CPU keeps no such number."""
    if device.type != "cuda":
        return 0
    return int(torch.cuda.max_memory_allocated(device)) - int(torch.cuda.memory_allocated(device))
