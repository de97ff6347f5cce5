"""How far a run is from what its device can do: the times that memory, matmuls, exponentials or launches alone would
need at least, and which of them the measured time is near to. Pure arithmetic; the ceilings are measured elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from profiles.ceilings import Ceilings, Costs
from profiles.comparison.entry import Entry
from profiles.comparison.figures import count, percent, prose_time, time_unit, whole_percent
from profiles.comparison.rates import amount, bandwidth, matmul_rate, per_second
from profiles.plan import CachePolicy
from profiles.results import Counts, Metric, Run
from profiles.workload import Workload

NEAR = 1 / 3
"""From this share of the measured time on, a limit explains it; a run that takes three times as long as each of them
waits for something else."""

HOST_RATIO = 1.25
NOT_TIMED = "no time was measured"


class Bound(StrEnum):
    MEMORY = "memory-bound"
    COMPUTE = "compute-bound"
    LAUNCH = "launch-bound"
    LATENCY = "latency-bound"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """`ns` is what this alone would need; `words` its sum: `134 MB at 4.30 TB/s need 31.2 µs`."""

    bound: Bound
    ns: float
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """`limits` are what the operation needs at least, longest first; `own` what this implementation does besides.

    `share` is the longest limit ÷ the measured time; `label` says what the time is near to, None where too little is
    known. `why` is the sum in words, or the reason why there is none; `host_ns` a call back to back where that waits
    for the host. On the roofline a run stands at `intensity` (useful FLOPs per byte, `exact`: of the bytes it moves,
    else of the least) and `tflop_per_s`.
    """

    limits: tuple[Limit, ...] = ()
    own: tuple[Limit, ...] = ()
    share: float | None = None
    label: Bound | None = None
    why: str = ""
    host_ns: float | None = None
    intensity: float | None = None
    exact: bool = False
    tflop_per_s: float | None = None

    @property
    def text(self) -> str:
        """All of it in words."""
        if self.host_ns is None:
            return self.why
        return f"{self.why}. Called back to back it waits for the host: {prose_time(self.host_ns)} a call"


def share_words(share: float) -> str:
    """Of a limit that a plain kernel set: what is faster is not said to be more than all of it."""
    return whole_percent(share) if share <= 1.005 else "> 100 %"


def standing(entry: Entry) -> Standing:
    """Of a measured entry; the text says why where nothing can be told."""
    run, ceilings = entry.run, entry.ceilings
    time = None if run is None else principal(run)
    if run is None or time is None:
        return Standing(why=NOT_TIMED)
    if ceilings is None:
        return Standing(why="what this device can do at most was not measured")
    if run.costs is None:
        return Standing(why="what the operation needs at least was not recorded")
    limits = _longest_first(_needs(run.costs, run.counts, ceilings, entry.workload, cold=is_cold(entry)))
    own = _longest_first(_does(run, run.costs, ceilings, entry.workload))
    return _judged(run, time, entry.workload, limits, own)


def is_cold(entry: Entry) -> bool:
    """Whether the principal time was taken with nothing in the cache; calls back to back never are."""
    time = None if entry.run is None else principal(entry.run)
    return entry.plan.cache is CachePolicy.COLD and time is not None and time.name == "gpu_time"


def principal(run: Run) -> Metric | None:
    """The device's own time; on a CPU that of calls back to back."""
    found = run.metric("gpu_time") or run.metric("call_time")
    return found if found is not None and found.value > 0 else None


def _longest_first(found: Iterator[Limit]) -> tuple[Limit, ...]:
    return tuple(sorted(found, key=lambda limit: -limit.ns))


def _needs(
    costs: Costs, counts: Counts | None, ceilings: Ceilings, workload: Workload, *, cold: bool
) -> Iterator[Limit]:
    share = None if costs.read_bytes is None or not costs.least_bytes else costs.read_bytes / costs.least_bytes
    rate = bandwidth(ceilings, costs.least_bytes, read_share=share, cold=cold)
    if rate:
        yield _memory(costs.least_bytes, rate)
    yield from _matmul(costs.useful_flops, ceilings, workload)
    if costs.exponentials and ceilings.exp_per_s:
        ns = costs.exponentials / ceilings.exp_per_s * 1e9
        words = (
            f"{amount(costs.exponentials, '').strip()} exponentials at {amount(ceilings.exp_per_s, '').strip()}/s need "
        )
        yield Limit(bound=Bound.COMPUTE, ns=ns, words=words + prose_time(ns))
    yield from _launches(counts, ceilings)


def _does(run: Run, costs: Costs, ceilings: Ceilings, workload: Workload) -> Iterator[Limit]:
    """What this implementation moves and computes beyond the least. Its steps find in the cache what the step before
    left there: the bandwidth is that of one step's share, with the cache as it is."""
    moved = moved_bytes(run)
    if moved is not None and moved > costs.least_bytes:
        steps = max(1, (run.counts.kernels or run.counts.operators or 1) if run.counts else 1)
        rate = bandwidth(ceilings, moved / steps, read_share=None, cold=False)
        if rate:
            yield _memory(moved, rate)
    if costs.executed_flops is not None and costs.executed_flops > (costs.useful_flops or 0):
        yield from _matmul(costs.executed_flops, ceilings, workload)


def moved_bytes(run: Run) -> float | None:
    """As a deep profile of all kernels counted it in the device's memory, else as the code says; None: unknown."""
    deep = run.deep.kernels if run.deep is not None else ()
    kernels = run.counts.kernels if run.counts is not None else None
    counted = [size for kernel in deep for size in (kernel.dram_read_bytes, kernel.dram_written_bytes)]
    known = [size for size in counted if size is not None]
    if deep and len(known) == len(counted) and kernels is not None and len(deep) >= kernels:
        return sum(known)
    return None if run.costs is None else run.costs.moved_bytes


def _memory(size: float, gb_per_s: float) -> Limit:
    ns = size / gb_per_s
    return Limit(
        bound=Bound.MEMORY,
        ns=ns,
        words=f"{amount(size, 'B')} at {per_second(gb_per_s * 1e9, 'B')} need {prose_time(ns)}",
    )


def _matmul(flops: int | None, ceilings: Ceilings, workload: Workload) -> Iterator[Limit]:
    rate = matmul_rate(ceilings, workload.dtype)
    if flops and rate:
        ns = flops / rate / 1e3
        words = f"{amount(flops, 'FLOP')} at {per_second(rate * 1e12, 'FLOP')} need {prose_time(ns)}"
        yield Limit(bound=Bound.COMPUTE, ns=ns, words=words)


def _launches(counts: Counts | None, ceilings: Ceilings) -> Iterator[Limit]:
    """Of kernels launched one by one: those of a graph follow each other faster."""
    if counts is None or counts.kernels is None or not ceilings.launch_ns:
        return
    launched = min(counts.kernels, counts.launches if counts.launches is not None else counts.kernels)
    if launched:
        ns = launched * ceilings.launch_ns
        need = "needs" if launched == 1 else "need"
        words = f"{count(launched, 'launch')} of at least {ceilings.launch_ns / 1e3:.2f} µs {need} {prose_time(ns)}"
        yield Limit(bound=Bound.LAUNCH, ns=ns, words=words)


def _judged(run: Run, time: Metric, workload: Workload, limits: tuple[Limit, ...], own: tuple[Limit, ...]) -> Standing:
    label, why = _label(run, time, workload, limits, own)
    costs = run.costs
    assert costs is not None, "asked before"
    moved, flops = moved_bytes(run), costs.useful_flops
    return Standing(
        limits=limits,
        own=own,
        share=limits[0].ns / time.value if limits else None,
        label=label,
        why=why,
        host_ns=_host_ns(run),
        intensity=None if not flops else flops / max(moved or 0, costs.least_bytes),
        exact=moved is not None,
        tflop_per_s=None if not flops else flops / time.value / 1e3,
    )


def _label(
    run: Run, time: Metric, workload: Workload, limits: tuple[Limit, ...], own: tuple[Limit, ...]
) -> tuple[Bound | None, str]:
    unit = time_unit(workload)
    if not limits:
        return None, "none of the device's ceilings that this operation needs was measured"
    longest = limits[0]
    if longest.ns >= NEAR * time.value:
        return longest.bound, f"{longest.bound}: {_of_measured(longest, time, unit.write(time.value))}"
    if own and own[0].ns >= NEAR * time.value:
        nearest = own[0]
        why = "by what it writes and reads in between" if nearest.bound is Bound.MEMORY else "by masked work too"
        return nearest.bound, f"{nearest.bound} {why}: {_of_measured(nearest, time, unit.write(time.value))}"
    told = _of_measured(longest, time, unit.write(time.value))
    if moved_bytes(run) is None:
        return None, f"far above every limit known: {told}; what it moves in between is not known"
    return Bound.LATENCY, f"{Bound.LATENCY}: far above every limit, the longest is {told}"


def _of_measured(limit: Limit, time: Metric, written: str) -> str:
    share = limit.ns / time.value
    if share > 1:
        return f"{limit.words}, yet {written} were measured: faster than the plain kernel that set this limit"
    return f"{limit.words} of the measured {written} ({percent(share)})"


def _host_ns(run: Run) -> float | None:
    """Of back-to-back calls that take far longer than the device needs: they wait for the host, whose time the GPU time
    hides."""
    device, steady = run.metric("gpu_time"), run.metric("call_time")
    if device is None or steady is None or steady.value < HOST_RATIO * device.value:
        return None
    return steady.value
