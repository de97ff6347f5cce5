"""A timeline as Chrome's trace JSON, written piece by piece: Perfetto opens it, and so does our own reader.

https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU (the format). Names come from files of
anyone: a JSON encoder writes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from app.timeline.doubts import Doubt
from profiles.results import Role
from profiles.trace.timeline import Timeline, TimelineTrack, TrackKind

AT_ONCE = 5_000
HOST, FIRST_DEVICE = 1, 2
CATEGORIES = {
    TrackKind.LAUNCHES: "cuda_runtime",
    TrackKind.CALLS: "cuda_runtime",
    TrackKind.OPS: "cpu_op",
    TrackKind.ANNOTATIONS: "user_annotation",
}
ON_DEVICE = {Role.COPY: "gpu_memcpy", Role.FILL: "gpu_memset"}

Event = dict[str, object]


def chrome_json(drawn: Timeline, doubts: Sequence[Doubt] = ()) -> Iterator[bytes]:
    """All slices, the launches' with arrows to what they started; times are exact. What is in doubt stands ahead."""
    encoder = msgspec.json.Encoder()
    yield b'{"displayTimeUnit":"ns","otherData":' + encoder.encode({"doubts": doubts}) + b',"traceEvents":[\n'
    yield b",\n".join(encoder.encode(event) for event in _names(drawn))
    launching = set(drawn.launch[drawn.launch >= 0].tolist())
    for first in range(0, len(drawn.start_ns), AT_ONCE):
        events = [
            event
            for row in range(first, min(first + AT_ONCE, len(drawn.start_ns)))
            for event in _events(drawn, row, is_launch=row in launching)
        ]
        yield b"".join(b",\n" + encoder.encode(event) for event in events)
    yield b"\n]}\n"


def _names(drawn: Timeline) -> Iterator[Event]:
    processes = {_process(track): track for track in drawn.tracks}
    for pid, track in processes.items():
        name = "host" if track.device is None else f"GPU {track.device}"
        yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
    for index, track in enumerate(drawn.tracks):
        about: Event = {"ph": "M", "pid": _process(track), "tid": index + 1}
        label = track.name if track.kind is TrackKind.STREAM else f"{track.name} · {track.kind}"
        yield {**about, "name": "thread_name", "args": {"name": label}}


def _events(drawn: Timeline, row: int, *, is_launch: bool) -> Iterator[Event]:
    place = int(drawn.track[row])
    track, launch = drawn.tracks[place], int(drawn.launch[row])
    at: Event = {"pid": _process(track), "tid": place + 1, "ts": _us(int(drawn.start_ns[row]))}
    name, stages = int(drawn.name[row]), drawn.stage_sets[drawn.stages[row]] if drawn.stage_sets else ()
    args: Event = {"stages": stages} if stages else {}
    args |= {key: value for key, value in drawn.causes[drawn.cause[row]]._asdict().items() if value}
    if track.kind is TrackKind.STREAM:
        args |= {"device": track.device, "stream": place + 1, "role": drawn.roles[name]}
    if is_launch or launch >= 0:
        args["correlation"] = row + 1 if is_launch else launch + 1
    category = CATEGORIES.get(track.kind) or ON_DEVICE.get(drawn.roles[name], "kernel")
    duration = _us(int(drawn.duration_ns[row]))
    yield {"ph": "X", "cat": category, "name": drawn.names[name], **at, "dur": duration, "args": args}
    if launch >= 0:
        arrow: Event = {"cat": "launch", "name": "launch", "id": row + 1}
        host = int(drawn.track[launch])
        begun = {"pid": _process(drawn.tracks[host]), "tid": host + 1, "ts": _us(int(drawn.start_ns[launch]))}
        yield {"ph": "s", **arrow, **begun}
        yield {"ph": "f", "bp": "e", **arrow, **at}


def _process(track: TimelineTrack) -> int:
    return HOST if track.device is None else FIRST_DEVICE + track.device


def _us(ns: int) -> msgspec.Raw:
    """µs as the format wants them, to the ns."""
    sign = "-" if ns < 0 else ""
    return msgspec.Raw(f"{sign}{abs(ns) // 1000}.{abs(ns) % 1000:03d}".encode())
