"""The child that reads traces within limits, as a real process."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from profiles.trace.__main__ import limit_this_process
from profiles.trace.child import parse_in_child
from profiles.trace.errors import NotWanted, TraceError, TraceTooLarge
from profiles.trace.forward import per_forward
from profiles.trace.read import read_trace
from profiles.trace.summary import summarise
from profiles.trace.timeline import load_timeline
from tests.processes import is_alive, living, wait_until


def test_the_child_says_what_reading_here_says(recordings: Path, tmp_path: Path) -> None:
    path = recordings / "cuda_naive.json.gz"
    parsed = parse_in_child(path, device="cuda:0", directory=tmp_path)
    trace = read_trace(path)
    assert parsed.summary == summarise(trace)
    assert parsed.forward == per_forward(trace, device="cuda:0")
    assert len(load_timeline(parsed.timeline_path).start_ns) == len(trace.slices)


def test_without_a_device_nothing_is_said_per_forward_pass(recordings: Path, tmp_path: Path) -> None:
    assert parse_in_child(recordings / "cpu_naive.json.gz", device=None, directory=tmp_path).forward is None


def test_a_broken_file_is_one_clear_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text('{"traceEvents": null}')
    with pytest.raises(TraceError, match=r"^traceEvents is null, expected a list of events$"):
        parse_in_child(path, device="cpu", directory=tmp_path)


def test_a_missing_file_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"No such file or directory: .*absent\.json"):
        parse_in_child(tmp_path / "absent.json", device="cpu", directory=tmp_path)


def test_a_file_that_needs_more_memory_than_allowed_is_refused(recordings: Path, tmp_path: Path) -> None:
    limit = 200_000_000
    small = parse_in_child(recordings / "cuda_naive.json.gz", device=None, directory=tmp_path, memory_limit=limit)
    assert small.summary.kernels == 15
    path = tmp_path / "large.json"
    events = (f'{{"ph": "X", "cat": "kernel", "name": "k", "ts": {start}, "dur": 1}}' for start in range(1_000_000))
    path.write_text(f'{{"traceEvents": [{",".join(events)}]}}')
    with pytest.raises(TraceError, match="more than the limit of 200,000,000 bytes of memory"):
        parse_in_child(path, device=None, directory=tmp_path, memory_limit=limit)


def test_a_file_that_takes_too_long_is_refused_in_time(tmp_path: Path) -> None:
    path = tmp_path / "slow.json"
    event = json.dumps({"ph": "X", "cat": "kernel", "name": "\\", "ts": 1, "dur": 1}).replace("\\\\", "\\x")
    path.write_text('{"traceEvents": [' + ",".join([event] * 600_000) + "]}")
    begun = time.monotonic()
    with pytest.raises(TraceTooLarge, match="limit of 1 s"):
        parse_in_child(path, device=None, directory=tmp_path, timeout_s=1)
    assert time.monotonic() - begun < 5


def test_a_file_that_nobody_wants_any_more_is_read_no_further(tmp_path: Path) -> None:
    endless = tmp_path / "endless.json"
    os.mkfifo(endless)
    asked: list[float] = []

    def unwanted() -> bool:
        asked.append(time.monotonic())
        return len(asked) > 2

    with pytest.raises(NotWanted):
        parse_in_child(endless, device=None, directory=tmp_path, unwanted=unwanted)
    assert asked[-1] - asked[0] < 5
    assert not living(naming=f"profiles.trace {endless}")


@pytest.mark.skipif(sys.platform != "linux", reason="the death signal of a parent is Linux's")
def test_the_child_dies_with_its_parent(tmp_path: Path) -> None:
    endless = tmp_path / "endless.json"
    os.mkfifo(endless)
    parse = (
        f"from pathlib import Path; from profiles.trace.child import parse_in_child as p; p(Path({str(endless)!r}), "
    )
    parse += f"device=None, directory=Path({str(tmp_path)!r}))"
    parent = subprocess.Popen([sys.executable, "-c", parse])
    writer = os.open(endless, os.O_WRONLY)  # returns once the child has begun to read
    readers = living(naming=f"profiles.trace {endless}")
    assert len(readers) == 1
    parent.kill()
    parent.wait()
    assert wait_until(lambda: not is_alive(readers[0]), within_s=5)
    os.close(writer)


def test_a_mac_is_asked_for_no_limit_that_it_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(resource, "setrlimit", lambda kind, _: asked.append(kind))
    limit_this_process(memory_bytes=1 << 30, time_s=60)
    assert asked == [resource.RLIMIT_CPU]
