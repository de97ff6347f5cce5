"""The steps of a sweep: what is taken of a candidate in each of its turns."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch

from profiles.measure import call_time, cupti_time, load
from profiles.measure.builds import Place
from profiles.measure.cache_policy import CacheState
from profiles.measure.candidate import Candidate, pace_of, place_of
from profiles.measure.cupti_time import RecordsError
from profiles.measure.device import synchronise
from profiles.measure.gate import Gate
from profiles.measure.gpu_time import GatedTimer, Sample
from profiles.measure.graph_time import CaptureError, Replay, side_stream
from profiles.measure.rounds import Pace
from profiles.measure.sync_time import time_lone_call
from profiles.measure.times import RECORDED, Times
from profiles.plan import Load, Plan
from profiles.variant import parse_variant

WARM_CALLS = 3  # in a new build; of each copy where graphs are recorded: warmed, recorded, then replayed
WARM_S = 0.05  # a call as long as that is warm after one
SINGLES = 5  # gated samples in a turn, of calls of less than 2 ms
SINGLES_S = 0.01
# After a rest the host's caches are cold, and its first call takes longer (on an H200's host 0.6 ms instead of 0.1).
# What is short enough to show that has an untimed call before; on a CPU only what is much shorter than a block.
WAKE_BELOW_S = {"cuda": 0.05, "cpu": 0.002}


@dataclass(frozen=True, slots=True)
class Kit:
    """What all steps need: the plan, the device and its cache, the trial's clock, and who is told of each turn."""

    plan: Plan
    device: torch.device
    cache: CacheState
    begun_s: float
    announce: Callable[[Candidate], None]

    def at_s(self) -> float:
        return time.monotonic() - self.begun_s


class Calls:
    """Single calls, calls back to back, and calls behind the gate: everything that needs no more than calling."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    def turns(self, pace: Pace) -> int:
        return pace.per_build

    def taken(self, candidate: Candidate) -> int:
        return len(candidate.times.series["call_time"])

    def begin(self, candidate: Candidate) -> None:
        """Call every copy until its memory, and whatever is made for its addresses, is there."""
        warm(place_of(candidate), self._kit.device, candidate.times.seconds_per_call)

    def take(self, candidate: Candidate) -> None:
        """Calls back to back first: they leave the host at work, as one that makes lone calls is."""
        kit, times, place = self._kit, candidate.times, place_of(candidate)
        kit.announce(candidate)
        pace = pace_of(candidate)
        load.before_block(kit.plan.load, place.single.call, kit.device, block_s=pace.block_s)
        if kit.plan.load is Load.BURST and times.seconds_per_call < WAKE_BELOW_S[kit.device.type]:
            next(place.in_turn).call()
        prepare = partial(kit.cache.prepare, place.rewrites)
        self._call(times, place, prepare, calls=pace.calls(times.seconds_per_call))
        if times.gated is not None:
            self._call_gated(times, times.gated, place, prepare)
        times.observer.after_block(kit.device, build=place.build, at_s=kit.at_s())

    def _call(self, times: Times, place: Place, prepare: Callable[[], None], *, calls: int) -> None:
        """A block, then a lone call; where a block is one call, the lone one is both."""
        block_ns = call_time.time_block(place.in_turn, self._kit.device, calls=calls) if calls > 1 else None
        if block_ns is not None:
            times.add("call_time", block_ns, at_s=self._kit.at_s())
        lone = time_lone_call(place.single.call, self._kit.device, prepare)
        times.add("sync_time", lone.total_ns, at_s=self._kit.at_s())
        if block_ns is None:
            times.add("call_time", lone.total_ns, at_s=self._kit.at_s())
        if times.gated is not None and times.gated.gave_up:
            times.add("host_time", lone.enqueue_ns, at_s=self._kit.at_s())
        times.seconds_per_call = (block_ns or lone.total_ns) / 1e9

    def _call_gated(self, times: Times, gated: GatedTimer, place: Place, prepare: Callable[[], None]) -> None:
        """The host's time of several calls, where they are short; else, and where they do not fit, of the last one."""
        number = singles(times.seconds_per_call)
        for _ in range(number):
            sample: Sample = gated.sample(place.single.call, prepare)
            times.add("gpu_time", sample.duration_ns, at_s=self._kit.at_s())
        if gated.gave_up:
            return
        several = None
        if times.host is not None and number > 1:
            several = times.host.sample(place.in_turn, longest_ns=sample.enqueue_ns)
        times.add("host_time", sample.enqueue_ns if several is None else several, at_s=self._kit.at_s())


class Replays:
    """Replays of a graph that holds a call of every copy, behind the gate. Where capturing fails, a note says why."""

    def __init__(self, kit: Kit, gate: Gate, *, after_failure: Callable[[], None]) -> None:
        self._kit, self._after_failure = kit, after_failure
        self._stream = side_stream(kit.device)
        self._taken = Counter[int]()
        self._timers = defaultdict[int, GatedTimer](lambda: GatedTimer(kit.device, gate))

    def turns(self, pace: Pace) -> int:
        return pace.per_build

    def taken(self, candidate: Candidate) -> int:
        """One that cannot be captured keeps nobody waiting."""
        return self._taken[id(candidate)] if candidate.times.capturable else enough(candidate)

    def begin(self, candidate: Candidate) -> None:
        times = candidate.times
        if not times.capturable:
            return
        try:
            times.replay = Replay(place_of(candidate).subjects, self._kit.device, self._stream)
        except CaptureError as error:
            times.capturable = False
            times.notes.append(f"graph_time: cannot be captured in a CUDA graph: {error}")
            self._stream = side_stream(self._kit.device)
            self._after_failure()
        else:
            times.graph_pool_bytes = max(times.graph_pool_bytes or 0, times.replay.pool_bytes)

    def take(self, candidate: Candidate) -> None:
        times, replay = candidate.times, candidate.times.replay
        if replay is None:
            return
        self._kit.announce(candidate)
        self._taken[id(candidate)] += 1
        timer = self._timers[id(candidate)]
        for _ in range(singles(times.seconds_per_call * replay.calls)):
            sample = timer.sample(replay)
            times.add("graph_time", sample.duration_ns / replay.calls, at_s=self._kit.at_s())
        times.graph_doubt = timer.doubt


class Recordings:
    """The device's busy time from the driver's records, of those whose calls no gate can hold."""

    def __init__(self, kit: Kit, gate: Gate) -> None:
        self._kit, self._gate = kit, gate

    def turns(self, pace: Pace) -> int:  # noqa: ARG002 - every step is asked
        """One recording holds all of a build's calls."""
        return 1

    def taken(self, candidate: Candidate) -> int:
        """One whose records cannot be read keeps nobody waiting."""
        times = candidate.times
        return len(times.series[RECORDED]) if times.recordable else enough(candidate)

    def begin(self, candidate: Candidate) -> None:
        warm(place_of(candidate), self._kit.device, candidate.times.seconds_per_call)

    def take(self, candidate: Candidate) -> None:
        kit, times, place = self._kit, candidate.times, place_of(candidate)
        if not times.recordable:
            return
        kit.announce(candidate)
        try:
            found = cupti_time.busy_times(
                place.single.call,
                partial(kit.cache.prepare, place.rewrites),
                calls=pace_of(candidate).per_build,
                device=kit.device,
                gate=self._gate,
            )
        except RecordsError as error:
            times.recordable = False
            times.notes.append(f"gpu_time: no busy time from the driver's records: {error}")
            return
        for ns in found:
            times.add(RECORDED, ns, at_s=kit.at_s())


def enough(candidate: Candidate) -> int:
    return pace_of(candidate).samples


def warm(place: Place, device: torch.device, seconds_per_call: float) -> None:
    """Every copy at least once: its memory, and what is made for its addresses, is there then."""
    again = WARM_CALLS - 1 if seconds_per_call < WARM_S else 0
    repeated = place.subjects if parse_variant(place.single.variant).execution.asks_for_graphs else place.subjects[:1]
    for subject in (*place.subjects, *again * repeated):
        subject.call()
    synchronise(device)


def singles(seconds_per_call: float) -> int:
    """Short calls are sampled several times in a turn: that costs little and steadies a build's median."""
    return max(1, min(SINGLES, int(SINGLES_S / max(seconds_per_call, 1e-9))))
