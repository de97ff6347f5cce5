"""The binary columns of one forward pass, decoded as the browser decodes them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from app.timeline.encode import encode
from app.timeline.shown import Part, show
from profiles.trace.causes import Cause
from profiles.trace.timeline import Step
from tests.app.timeline.drawn import timeline_of_run
from tests.profiles.comparison.ladder import ladder_runs
from tests.profiles.comparison.other import cpu_runs, decoder_runs


def _decoded(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + length])
    assert (4 + length) % 8 == 0
    columns = {}
    for place in header["columns"]:
        assert place["offset"] % 8 == 0
        columns[place["name"]] = np.frombuffer(
            data, np.dtype(place["type"]), place["count"], offset=4 + length + place["offset"]
        )
    return header, columns


def test_one_forward_pass_is_sent_with_launches_before_the_streams() -> None:
    header, columns = _decoded(encode(show(timeline_of_run(ladder_runs()[0]))))
    assert [(track["name"], track["kind"]) for track in header["tracks"]] == [
        ("host launches", "launches"),
        ("stream 7", "stream"),
    ]
    assert header["slices"] == header["in_view"] == 12
    assert not header["merged"]
    kernels = columns["track"] == 1
    names = [header["names"][i]["short"] for i in columns["name"][kernels]]
    assert names[0] == "nvjet 256×128"
    assert header["names"][columns["name"][kernels][2]]["role"] == "copy"


def test_times_count_from_the_first_slice_on_the_device_and_are_exact() -> None:
    header, columns = _decoded(encode(show(timeline_of_run(ladder_runs()[0]))))
    kernels = columns["track"] == 1
    assert columns["start"][kernels][0] == 0
    assert columns["duration"][kernels].tolist() == [323300, 502800, 519000, 1422800, 1463100, 297200]
    assert columns["start"][~kernels].min() < 0
    assert header["zero_ns"] > 0


def test_each_slice_points_at_its_launch() -> None:
    _, columns = _decoded(encode(show(timeline_of_run(ladder_runs()[0]))))
    kernels = np.flatnonzero(columns["track"] == 1)
    launches = columns["launch"][kernels]
    assert (columns["track"][launches] == 0).all()
    assert (columns["start"][launches] <= columns["start"][kernels]).all()
    assert (columns["launch"][columns["track"] == 0] == -1).all()


def test_the_pass_of_median_length_is_drawn() -> None:
    drawn = timeline_of_run(ladder_runs()[2])
    first, second, third = drawn.steps
    uneven = (
        first,
        Step("short", second.start_ns, second.start_ns + 10),
        Step("long", third.start_ns, third.end_ns + 9),
    )
    header, _ = _decoded(encode(show(replace(drawn, steps=uneven))))
    assert header["step"] == first.name


def test_without_passes_everything_is_drawn() -> None:
    header, _ = _decoded(encode(show(replace(timeline_of_run(ladder_runs()[2]), steps=()))))
    assert header["step"] is None
    assert header["slices"] == 6


def test_cpu_operators_nest() -> None:
    header, columns = _decoded(encode(show(timeline_of_run(cpu_runs()[0], on_cpu=True))))
    assert header["tracks"] == [{"name": "operators", "kind": "ops", "depth": 2, "device": None}]
    assert header["main"] == ["ops"]
    inner = [header["names"][i]["short"] for i in columns["name"][columns["depth"] == 1]]
    assert inner == ["bmm", "bmm"]


def test_too_many_slices_are_merged_and_counted_exactly() -> None:
    header, columns = _decoded(encode(show(timeline_of_run(decoder_runs()[0])), most=100))
    assert header["merged"]
    assert header["slices"] == header["in_view"] == columns["count"].sum() == 2072
    assert len(columns["start"]) <= 2072
    names = {header["names"][i]["short"] for i in columns["name"]}
    assert "softmax_warp_fwd" in names


def test_the_whole_recording_counts_from_its_own_start() -> None:
    drawn = timeline_of_run(ladder_runs()[0])
    header, columns = _decoded(encode(show(drawn, Part.ALL)))
    assert (header["step"], header["zero_ns"]) == (None, 0)
    assert header["slices"] == len(drawn.start_ns)
    assert sorted(columns["start"].tolist()) == sorted(drawn.start_ns.tolist())


def test_hits_of_a_search_are_counted_by_full_and_short_name_in_any_case() -> None:
    shown = show(timeline_of_run(ladder_runs()[0]))
    assert _decoded(encode(shown, query="NVJET"))[0]["hits_in_all"] == 2
    assert _decoded(encode(shown, query="no such kernel"))[0]["hits_in_all"] == 0


def test_each_slice_points_at_its_cause_and_only_those_in_use_are_sent() -> None:
    drawn = timeline_of_run(ladder_runs()[0])
    table = (Cause(), Cause("aten::mm", "Bert_0 > Linear_1", "model.py(7): forward", True), Cause("aten::\x1bunused"))
    caused = replace(drawn, causes=table, cause=np.where(drawn.track == 1, 1, 0).astype(np.uint32))
    for most in (1_000, 3):
        header, columns = _decoded(encode(show(caused), most=most))
        assert header["causes"] == [[None, None, None, False], list(table[1])]
        assert (columns["cause"] == (columns["track"] == 1)).all()
    header, _ = _decoded(encode(show(replace(caused, cause=np.full_like(caused.cause, 2)))))
    assert header["causes"] == [["aten::\\x1bunused", None, None, False]]


def test_slices_that_were_launched_in_another_pass_are_left_out() -> None:
    drawn = timeline_of_run(ladder_runs()[2])
    begins = drawn.steps[1].start_ns
    moved = drawn.start_ns.copy()
    first_kernel = int(np.flatnonzero(drawn.track == 1)[0])
    moved[first_kernel] = begins + 1
    late = replace(drawn, start_ns=moved, steps=(drawn.steps[1],))
    header, _ = _decoded(encode(show(late)))
    assert header["slices"] == 2
