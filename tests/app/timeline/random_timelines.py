"""Timelines of random slices, for tests that compare fast ways with plain ones."""

from __future__ import annotations

import numpy as np

from profiles.results import Role
from profiles.trace.timeline import Timeline, TimelineTrack, TrackKind

NAMES = ("launch", "gemm<a, b>", 'evil</script>"\n', "=cmd|x", "copy")
TRACKS = (
    TimelineTrack(name="python · thread 1", kind=TrackKind.LAUNCHES, device=None),
    TimelineTrack(name="GPU 0 · stream 7", kind=TrackKind.STREAM, device=0),
    TimelineTrack(name="GPU 0 · stream 8", kind=TrackKind.STREAM, device=0),
    TimelineTrack(name="GPU 1 · stream 7", kind=TrackKind.STREAM, device=1),
    TimelineTrack(name="python · thread 1", kind=TrackKind.OPS, device=None),
)


def random_timeline(slices: int, *, seed: int, span_ns: int = 1_000_000) -> Timeline:
    """Slices of all lengths, zero included, that overlap as they like; each kernel has an earlier launch or none."""
    random = np.random.default_rng(seed)
    start = np.sort(random.integers(0, span_ns, slices))
    track = random.integers(0, len(TRACKS), slices)
    launches = np.flatnonzero(track == 0)
    launch = np.full(slices, -1)
    for row in np.flatnonzero((track >= 1) & (track <= 3)):
        earlier = launches[launches < row]
        launch[row] = random.choice(earlier) if len(earlier) and random.random() < 0.8 else -1
    return Timeline(
        tracks=TRACKS,
        names=NAMES,
        short_names=NAMES,
        roles=(Role.OTHER, Role.GEMM, Role.OTHER, Role.POINTWISE, Role.COPY),
        stage_sets=((), ("scores", "scale")),
        steps=(),
        track=track.astype(np.uint16),
        name=np.where(track == 0, 0, random.integers(1, len(NAMES), slices)).astype(np.uint32),
        start_ns=start,
        duration_ns=np.floor(random.exponential(span_ns / slices, slices) * random.integers(0, 4, slices)).astype(
            np.int64
        ),
        launch=launch.astype(np.int32),
        stages=random.integers(0, 2, slices).astype(np.uint32),
        cause=np.zeros(slices, np.uint32),
    )
