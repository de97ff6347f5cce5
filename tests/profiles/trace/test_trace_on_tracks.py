"""What is looked for track by track at once says what going through the tracks one by one says."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from profiles.trace.errors import TraceTooLarge
from profiles.trace.launches import Launches, find_launches
from profiles.trace.model import ABSENT, CALL_KINDS, Int64s, Trace
from profiles.trace.on_tracks import OnTracks
from profiles.trace.steps import find_steps
from profiles.trace.summary import summarise
from profiles.trace.timeline import timeline

BEGIN, END, LAUNCH, SYNC = "cudaStreamBeginCapture", "cudaStreamEndCapture", "cudaLaunchKernel", "cudaStreamSynchronize"
CALLS = st.lists(
    st.tuples(st.sampled_from((BEGIN, END, LAUNCH, SYNC)), st.integers(1, 12), st.integers(0, 3), st.integers(1, 3)),
    max_size=24,
)
FAST = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def captured_one_by_one(trace: Trace, launches: Launches) -> list[bool]:
    """The plain definition: a call lies between some begin on its thread and the first end after that begin."""
    slices = trace.slices
    rows = slices.of(*CALL_KINDS).tolist()
    found = []
    for call in launches.calls.tolist():
        mine = [row for row in rows if slices.track[row] == slices.track[call]]
        begins = [row for row in mine if trace.names[slices.name[row]] == BEGIN]
        ends = {
            begin: [row for row in mine if row > begin and trace.names[slices.name[row]] == END] for begin in begins
        }
        at = slices.start_ns[call]
        found.append(
            any(
                slices.start_ns[begin] <= at and (not ends[begin] or at <= slices.start_ns[ends[begin][0]])
                for begin in begins
            )
        )
    return found


@FAST
@given(calls=CALLS)
def test_captures_are_found_as_by_their_plain_definition(
    calls: list[tuple[str, int, int, int]], read_text: Callable[[str], Trace]
) -> None:
    events: list[dict[str, Any]] = [
        {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 1, "tid": tid, "ts": start, "dur": duration}
        | {"args": {"correlation": number}}
        for number, (name, start, duration, tid) in enumerate(calls)
    ]
    trace = read_text(json.dumps({"traceEvents": events}))
    launches = find_launches(trace)
    assert launches.captured.tolist() == captured_one_by_one(trace, launches)


@FAST
@given(calls=CALLS, sought=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 24)), min_size=1))
def test_neighbours_on_a_track_are_those_of_that_track_alone(
    calls: list[tuple[str, int, int, int]], sought: list[tuple[int, int]], read_text: Callable[[str], Trace]
) -> None:
    events = [
        {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": tid, "ts": start, "dur": duration}
        for name, start, duration, tid in calls
    ]
    slices = read_text(json.dumps({"traceEvents": events})).slices
    rows = np.flatnonzero(slices.name == 0)
    track, row = np.array(sought, np.int64).T
    row = np.minimum(row, len(slices))
    found = OnTracks(slices, rows)
    one_by_one = [_neighbours(slices.track, rows, *asked) for asked in zip(track.tolist(), row.tolist(), strict=True)]
    assert list(zip(found.last_before(track, row).tolist(), found.first_from(track, row).tolist(), strict=True)) == (
        one_by_one
    )


def _neighbours(tracks: Int64s, rows: Int64s, track: int, row: int) -> tuple[int, int]:
    mine = [each for each in rows.tolist() if tracks[each] == track]
    before, after = [each for each in mine if each < row], [each for each in mine if each >= row]
    return (before[-1] if before else ABSENT), (after[0] if after else ABSENT)


def seconds(act: Callable[[], object]) -> float:
    begun = time.process_time()
    act()
    return time.process_time() - begun


def call(name: str, start: int, correlation: int, tid: int = 1) -> str:
    return (
        f'{{"ph":"X","cat":"cuda_runtime","name":"{name}","pid":1,"tid":{tid},"ts":{start},"dur":1,'
        f'"args":{{"correlation":{correlation}}}}}'
    )


def kernel(start: int, correlation: int, stream: int = 7) -> str:
    return (
        f'{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":{stream},"ts":{start},"dur":1,'
        f'"args":{{"device":0,"stream":{stream},"correlation":{correlation}}}}}'
    )


def mark(name: str, start: int, duration: int) -> str:
    return f'{{"ph":"X","cat":"user_annotation","name":"{name}","pid":1,"tid":1,"ts":{start},"dur":{duration}}}'


def document(events: list[str]) -> str:
    return f'{{"traceEvents":[{",".join(events)}]}}'


def test_tens_of_thousands_of_captures_take_no_time(read_text: Callable[[str], Trace]) -> None:
    events = []
    for at in range(40_000):
        events += [call(name, 10 * at + 2 * place, 3 * at + place) for place, name in enumerate((BEGIN, LAUNCH, END))]
    trace = read_text(document(events))
    assert seconds(lambda: find_launches(trace)) < 2
    assert find_launches(trace).captured.all()


def test_thousands_of_threads_that_wait_take_no_time(read_text: Callable[[str], Trace]) -> None:
    events = []
    for at in range(40_000):
        thread = at % 4_900
        events += [call(LAUNCH, 100 * at, at, thread), kernel(100 * at + 20, at, thread)]
        events.append(call(SYNC, 100 * at + 15, 10**6 + at, thread))
    trace = read_text(document(events))
    assert seconds(lambda: summarise(trace)) < 4


def test_tens_of_thousands_of_stages_within_each_other_take_no_time(read_text: Callable[[str], Trace]) -> None:
    events = [mark(f"fusescope.stage:s{at % 7}", at, 10**9 - 2 * at) for at in range(60_000)]
    for at in range(30_000):
        events += [call(LAUNCH, 10**6 + 10 * at, at), kernel(10**6 + 10 * at + 2, at)]
    trace = read_text(document(events))
    drawn = []
    assert seconds(lambda: drawn.append(timeline(trace))) < 5
    assert {drawn[0].stage_sets[place] for place in drawn[0].stages[-100:].tolist()} == {("s2",)}


def test_steps_of_which_many_are_open_at_once_are_refused(read_text: Callable[[str], Trace]) -> None:
    def nested(count: int) -> Trace:
        return read_text(document([mark(f"ProfilerStep#{at}", at, 1000 - 2 * at) for at in range(count)]))

    trace = nested(16)
    assert len(find_steps(trace, find_launches(trace))) == 16
    too_many = nested(17)
    with pytest.raises(TraceTooLarge, match=r"^17 steps within each other; the limit is 16$"):
        find_steps(too_many, find_launches(too_many))
