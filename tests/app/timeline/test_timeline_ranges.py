"""Tables of a range and slices as files, against plain loops and our own reader."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.timeline.chrome import chrome_json
from app.timeline.ranges import inside, summarise
from app.timeline.shown import show
from app.timeline.slices_csv import slices_csv
from profiles.trace.causes import Cause
from profiles.trace.model import SliceKind
from profiles.trace.read import read_trace
from profiles.trace.timeline import TrackKind
from tests.app.timeline.drawn import timeline_of_run
from tests.app.timeline.random_timelines import random_timeline
from tests.profiles.comparison.ladder import ladder_runs
from tests.profiles.comparison.other import cpu_runs


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_busy_and_gaps_are_those_of_every_ns_painted(seed: int) -> None:
    shown = show(random_timeline(60, seed=seed, span_ns=3_000))
    from_ns, to_ns = 500, 2_500
    found = summarise(shown, from_ns, to_ns)
    for device in found.devices:
        painted, begins, ends = np.zeros(to_ns, dtype=bool), [], []
        for row in inside(shown, from_ns, to_ns).tolist():
            track = shown.tracks[shown.track[row]]
            if track.kind == TrackKind.STREAM and track.device == device.device:
                begins.append(max(int(shown.start_ns[row]), from_ns))
                ends.append(min(int(shown.start_ns[row] + shown.duration_ns[row]), to_ns))
                painted[begins[-1] : ends[-1]] = True
        assert device.busy_ns == painted.sum()
        assert device.gap_ns == max(ends) - min(begins) - painted.sum()
    assert {device.device for device in found.devices} == {0, 1}


def test_kernels_of_a_range_are_cut_at_its_ends_and_listed_longest_first() -> None:
    shown = show(timeline_of_run(ladder_runs()[0]))
    zero = shown.zero_ns
    found = summarise(shown, zero + 100_000, zero + 1_000_000)
    listed = [(kernel.name, kernel.calls, kernel.total_ns) for kernel in found.kernels]
    assert listed[0] == ("mul (scalar)", 1, 502_800)
    assert listed[1] == ("nvjet 256×128", 1, 223_300)
    assert sum(kernel.share for kernel in found.kernels) == pytest.approx(1)
    [device] = found.devices
    assert (device.device, device.gaps, device.gap_ns, device.longest_gap_ns) == (0, 2, 1_800, 900)
    assert device.busy_ns + device.gap_ns == 900_000


def test_an_empty_range_has_nothing() -> None:
    found = summarise(show(random_timeline(50, seed=1)), 10**9, 10**9 + 1)
    assert (found.slices, found.kernels, found.devices) == (0, (), ())


def test_range_of_a_cpu_lists_its_outermost_operators() -> None:
    shown = show(timeline_of_run(cpu_runs()[0], on_cpu=True))
    found = summarise(shown, 0, 10**12)
    [device] = found.devices
    assert device.device is None
    assert device.busy_ns == sum(kernel.total_ns for kernel in found.kernels)


def test_csv_has_a_line_for_each_slice_and_no_formulas() -> None:
    shown = show(random_timeline(12_000, seed=2))
    lines = list(csv.DictReader(io.StringIO("".join(slices_csv(shown, inside(shown, -1, 10**9))))))
    assert len(lines) == 12_000
    assert sum(int(line["duration_ns"]) for line in lines) == shown.duration_ns.sum()
    assert {line["full_name"] for line in lines if "cmd" in line["full_name"]} == {"'=cmd|x"}


def test_chrome_json_escapes_names_and_keeps_times_to_the_ns() -> None:
    drawn = random_timeline(7_000, seed=3)
    events = json.loads(b"".join(chrome_json(drawn)), parse_float=str)["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    assert len(slices) == 7_000
    assert [int(event["ts"].replace(".", "")) for event in slices] == drawn.start_ns.tolist()
    assert [int(event["dur"].replace(".", "")) for event in slices] == drawn.duration_ns.tolist()
    assert {event["name"] for event in slices} == set(drawn.names)
    ends = [event["id"] for event in events if event["ph"] == "f"]
    assert len(ends) == len(set(ends)) == (drawn.launch >= 0).sum()
    assert sorted(ends) == sorted(event["id"] for event in events if event["ph"] == "s")


def test_files_tell_what_caused_a_slice() -> None:
    cause = Cause("aten::mm", "=Bert_0 > Linear_1", "model.py(7): forward", inferred=True)
    drawn = random_timeline(40, seed=4)
    drawn = replace(drawn, causes=(Cause(), cause), cause=(drawn.track == 1).astype(np.uint32))
    shown = show(drawn)
    lines = list(csv.DictReader(io.StringIO("".join(slices_csv(shown, inside(shown, -1, 10**9))))))
    caused = [line for line in lines if line["operator"]]
    assert len(caused) == (drawn.track == 1).sum() > 0
    told = [caused[0][name] for name in ("operator", "module", "source", "cause_inferred")]
    assert told == ["aten::mm", "'=Bert_0 > Linear_1", "model.py(7): forward", "yes"]
    events = json.loads(b"".join(chrome_json(drawn)))["traceEvents"]
    named = [event["args"] for event in events if event["ph"] == "X" and "operator" in event["args"]]
    assert len(named) == len(caused)
    assert named[0]["module"] == "=Bert_0 > Linear_1"


def test_our_own_reader_finds_the_same_kernels_in_the_chrome_json(tmp_path: Path) -> None:
    drawn = timeline_of_run(ladder_runs()[0])
    path = tmp_path / "exported.json"
    path.write_bytes(b"".join(chrome_json(drawn)))
    found = read_trace(path)
    kernels = found.slices.of(SliceKind.KERNEL, SliceKind.MEMCPY, SliceKind.MEMSET)
    streams = drawn.track == 1
    assert len(kernels) == streams.sum()
    names = [found.names[i] for i in found.slices.name[kernels]]
    assert names == [drawn.names[i] for i in drawn.name[streams]]
    assert found.slices.duration_ns[kernels].tolist() == drawn.duration_ns[streams].tolist()
