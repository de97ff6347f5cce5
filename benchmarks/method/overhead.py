"""What the method costs beside a bare script that takes the same samples of the same function."""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from typing import Any

import msgspec
import torch
from torch import Tensor

from benchmarks.method.pairs import window
from benchmarks.method.works import Work, copying
from profiles.measure.cache_flush import CacheFlush
from profiles.measure.host_time import CALLS as HOST_CALLS
from profiles.measure.load import REST_S
from profiles.measure.rounds import BLOCK_S
from profiles.measure.timing import time_functions
from profiles.plan import CachePolicy, Plan
from profiles.results import Metric

LENGTHS_US = (100, 1000)
BUILDS = 24
REPEATS = 3


def run(device: torch.device, *, seconds: float, plan: Plan) -> dict[str, Any]:  # noqa: ARG001 - as the others
    """Ours and the bare one in turns; both with fixed numbers of samples, so that only the work differs."""
    fixed = msgspec.structs.replace(plan, builds=BUILDS, samples=4 * BUILDS, budget_s=60.0, margin=0.1)
    return {"rows": [_row(copying(device, us), device, fixed) for us in LENGTHS_US]}


def _row(work: Work, device: torch.device, plan: Plan) -> dict[str, Any]:
    ours, bare = list[float](), list[float]()
    for repeat in range(REPEATS):
        begun = time.perf_counter()
        functions, ns = {work.name: work.function}, window(str(device))
        found = time_functions(functions, work.inputs, device=device, plan=plan, seed=repeat, window_ns=ns)
        (metrics,) = found.values()
        ours.append(time.perf_counter() - begun)
        samples = {metric.name: metric for metric in metrics}
        begun = time.perf_counter()
        _bare(work, device, samples, cold=plan.cache is CachePolicy.COLD)
        bare.append(time.perf_counter() - begun)
    return {
        "kind": work.name,
        "ours_s": statistics.median(ours),
        "bare_s": statistics.median(bare),
        "overhead": statistics.median(ours) / statistics.median(bare) - 1,
        "samples": {name: len(metric.samples or ()) for name, metric in samples.items()},
    }


def _bare(work: Work, device: torch.device, like: dict[str, Metric], *, cold: bool) -> None:
    """As one would write it by hand: per build new inputs and a warm-up, per turn a rest, a block and gated samples."""
    on_gpu = device.type == "cuda"
    wait: Callable[[], None] = torch.cuda.synchronize if on_gpu else (lambda: None)
    flush = CacheFlush(device) if on_gpu and cold else (lambda: None)
    x = work.inputs(0)
    _warm_up(work, x, wait)
    call_ns = like["call_time"].value
    number = max(1, int(BLOCK_S * 1e9 / call_ns))
    gated, graphs = _per_turn(like, "gpu_time"), _per_turn(like, "graph_time")
    for turns in _turns(like["call_time"]):
        copies = [x.clone() for _ in range(_copies(x, device) if on_gpu and cold else 1)]
        turn = cycle(copies)
        for one in copies * 3:
            work.function(one)
        wait()
        for _ in range(turns):
            time.sleep(REST_S)
            work.function(next(turn))
            wait()
            for _ in range(number + 1):
                work.function(next(turn))
            wait()
            for _ in range(gated):
                _gated(partial(work.function, copies[0]), flush)
            if on_gpu:
                _enqueued(work, turn)
    if graphs:
        for turns in _turns(like["graph_time"], graphs):
            copies = [x.clone() for _ in range(_copies(x, device) if cold else 1)]
            graph: Any = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                for one in copies:
                    work.function(one)
            graph.replay()
            wait()
            for _ in range(turns * graphs):
                _gated(graph.replay, lambda: None)


def _warm_up(work: Work, x: Tensor, wait: Callable[[], None]) -> None:
    end = time.perf_counter() + 0.3
    while time.perf_counter() < end:
        work.function(x)
        wait()


def _gated(call: Callable[[], Any], before: Callable[[], Any]) -> float:
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    before()
    torch.cuda._sleep(400_000)
    start.record()
    call()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end))


def _enqueued(work: Work, turn: Iterator[Tensor]) -> float:
    """What the host spends on each of some calls behind one gate."""
    torch.cuda.synchronize()
    torch.cuda._sleep(400_000)  # type: ignore[no-untyped-call]
    work.function(next(turn))
    start = time.perf_counter()
    for _ in range(HOST_CALLS):
        work.function(next(turn))
    spent = time.perf_counter() - start
    torch.cuda.synchronize()
    return spent / HOST_CALLS


def _per_turn(like: dict[str, Metric], name: str) -> int:
    """Samples of a time in each turn of `call_time`."""
    metric = like.get(name)
    return 0 if metric is None else len(metric.samples or ()) // len(like["call_time"].samples or (0,))


def _turns(metric: Metric, each: int = 1) -> list[int]:
    """Of each build."""
    return [number // each for number in Counter(metric.builds or ()).values()]


def _copies(x: Tensor, device: torch.device) -> int:
    l2 = int(torch.cuda.get_device_properties(device).L2_cache_size)
    return max(1, min(64, -(-3 * l2 // x.nbytes)))
