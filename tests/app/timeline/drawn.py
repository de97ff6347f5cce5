"""Timelines made of run records, for tests: three forward passes, launches on the host, kernels on one stream."""

from __future__ import annotations

import numpy as np

from profiles.results import KernelUse, Role, Run
from profiles.trace.timeline import Step, Timeline, TimelineTrack, TrackKind

LAUNCH_NS = 5_000
BETWEEN_LAUNCHES_NS = 9_000
LAG_NS = 8_000
GAP_NS = 900
STEPS = 3
WRAPPERS = {"aten::matmul": Role.GEMM}


def timeline_of_run(run: Run, *, on_cpu: bool = False) -> Timeline:
    uses = [use for use in sorted(run.kernels, key=lambda use: use.position) for _ in range(use.calls)]
    return _on_cpu(uses) if on_cpu else _on_gpu(uses)


def _on_gpu(uses: list[KernelUse]) -> Timeline:
    rows: list[tuple[int, int, int, int, int, int]] = []  # track, name, start, duration, launch, stages
    names = ["cudaLaunchKernel", *dict.fromkeys(use.name for use in uses)]
    sets = [(), *dict.fromkeys(use.stages for use in uses if use.stages)]
    steps, clock = [], 0
    for step in range(STEPS):
        begun, free = clock, clock + LAG_NS
        for position, use in enumerate(uses):
            launched = begun + position * BETWEEN_LAUNCHES_NS
            rows.append((0, 0, launched, LAUNCH_NS, -1, 0))
            start, length = max(free, launched + LAG_NS), use.total_ns // use.calls
            rows.append((1, names.index(use.name), start, length, len(rows) - 1, sets.index(use.stages)))
            free = start + length + GAP_NS
        steps.append(Step(f"fusescope.forward#{step}", begun, free))
        clock = free + 50_000
    tracks = (
        TimelineTrack(name="python · thread 71", kind=TrackKind.LAUNCHES, device=None),
        TimelineTrack(name="GPU 0 · stream 7", kind=TrackKind.STREAM, device=0),
    )
    return _timeline(rows, names=names, sets=sets, steps=steps, uses=uses, tracks=tracks)


def _on_cpu(uses: list[KernelUse]) -> Timeline:
    rows, clock = [], 0
    names = ["aten::matmul", "aten::view", *dict.fromkeys(use.name for use in uses)]
    sets = [(), *dict.fromkeys(use.stages for use in uses if use.stages)]
    steps = []
    for step in range(STEPS):
        begun = clock
        for use in uses:
            length = use.total_ns // use.calls
            if use.role is Role.GEMM:
                rows.append((0, 0, clock, length + 2000, -1, 0))
                rows.append((0, 1, clock + 100, 300, -1, 0))
            rows.append((0, names.index(use.name), clock + 1000, length, -1, sets.index(use.stages)))
            clock += length + 4000
        steps.append(Step(f"fusescope.forward#{step}", begun, clock))
        clock += 20_000
    tracks = (TimelineTrack(name="python · thread 71", kind=TrackKind.OPS, device=None),)
    return _timeline(rows, names=names, sets=sets, steps=steps, uses=uses, tracks=tracks)


def _timeline(
    rows: list[tuple[int, int, int, int, int, int]],
    *,
    names: list[str],
    sets: list[tuple[str, ...]],
    steps: list[Step],
    uses: list[KernelUse],
    tracks: tuple[TimelineTrack, ...],
) -> Timeline:
    """The rows in order of their start, with launches pointing at their new places."""
    order = sorted(range(len(rows)), key=lambda i: rows[i][2])
    place = {old: new for new, old in enumerate(order)}
    known = {use.name: use for use in uses}
    columns = list(zip(*(rows[i] for i in order), strict=True))
    return Timeline(
        tracks=tracks,
        names=tuple(names),
        short_names=tuple(known[name].short_name if name in known else name for name in names),
        roles=tuple(known[name].role if name in known else WRAPPERS.get(name, Role.OTHER) for name in names),
        stage_sets=tuple(sets),
        steps=tuple(steps),
        track=np.array(columns[0], dtype=np.uint16),
        name=np.array(columns[1], dtype=np.uint32),
        start_ns=np.array(columns[2], dtype=np.int64),
        duration_ns=np.array(columns[3], dtype=np.int64),
        launch=np.array([place[old] if old >= 0 else -1 for old in columns[4]], dtype=np.int32),
        stages=np.array(columns[5], dtype=np.uint32),
        cause=np.zeros(len(order), np.uint32),
    )
