"""Exports of Nsight Systems, of several versions: obvious ones made here, and public ones."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from profiles.results import Finding
from profiles.trace.child import parse_in_child
from profiles.trace.forward import per_forward
from profiles.trace.launches import find_launches, kernels_of_graphs
from profiles.trace.model import ABSENT, LaunchShape, SliceKind, Trace
from profiles.trace.read import read_trace
from profiles.trace.summary import TraceSummary, summarise
from profiles.trace.timeline import timeline
from tests.profiles.trace.nsight_export import CALLS, COPIES, FILLS, KERNELS, MARK, RANGES, Export, global_tid

ReadExport = Callable[[Export], Trace]


@pytest.fixture
def export() -> Export:
    return Export()


@pytest.fixture
def read_export(tmp_path: Path) -> ReadExport:
    return lambda export: read_trace(export.save(tmp_path / "export.sqlite"))


def _codes(summary: TraceSummary) -> list[str]:
    return [finding.code for finding in summary.health]


def _finding(summary: TraceSummary, code: str) -> Finding:
    return next(finding for finding in summary.health if finding.code == code)


def _names(trace: Trace, *kinds: SliceKind) -> list[str]:
    return [trace.names[trace.slices.name[row]] for row in trace.slices.of(*kinds)]


def test_kernels_copies_and_fills_are_joined_to_their_calls(export: Export, read_export: ReadExport) -> None:
    place = {"deviceId": 0, "contextId": 1, "streamId": 7, "globalPid": global_tid(5)}
    export.launched(1_000, 1)
    export.call("cudaMemcpyAsync_v3020", 1_200, 2)
    export.add(COPIES, start=1_300, end=1_400, correlationId=2, copyKind=1, **place)
    export.call("cudaMemsetAsync_v3020", 1_420, 3)
    export.add(FILLS, start=1_500, end=1_510, correlationId=3, **place)
    summary = summarise(read_export(export))
    assert (summary.kernels, summary.memcpy, summary.memset) == (1, 1, 1)
    assert (summary.launches, summary.graph_launches, summary.linked_kernels) == (1, 0, 1)
    assert (summary.kernel_sum_ns, summary.gpu_busy_ns, summary.gpu_span_ns) == (50, 160, 410)
    assert (summary.format, summary.unit, summary.records) == ("nsys-sqlite", "ns", 6)
    assert summary.health == ()


def test_times_are_exact_beyond_what_a_float_holds(export: Export, read_export: ReadExport) -> None:
    export.launched(2**60 + 1, 1)
    trace = read_export(export)
    assert trace.slices.start_ns.tolist() == [2**60 + 1, 2**60 + 101]


def test_runtime_and_driver_are_one_table_and_told_apart_by_name(export: Export, read_export: ReadExport) -> None:
    export.launched(1_000, 1)
    export.call("cuLaunchKernelEx", 1_005, 1)  # beneath the runtime's
    export.call("cuMemAlloc_v2", 1_300, 2)
    trace = read_export(export)
    assert _names(trace, SliceKind.RUNTIME) == ["cudaLaunchKernel"]
    assert _names(trace, SliceKind.DRIVER) == ["cuLaunchKernelEx", "cuMemAlloc_v2"]
    assert summarise(trace).launches == 1


def test_correlations_count_within_their_process(export: Export, read_export: ReadExport) -> None:
    export.launched(1_000, 1, pid=5)
    export.launched(1_200, 1, pid=8, deviceId=1)
    export.kernel(900, 50, 0, pid=5)
    export.call("cudaGetDevice_v3020", 300, 40, pid=9)
    export.kernel(980, 50, 2, pid=9, deviceId=2)  # lower than every call of its process, not of all processes
    summary = summarise(read_export(export))
    assert (summary.kernels, summary.linked_kernels, summary.launched_before_window) == (4, 2, 2)
    assert _codes(summary) == ["launched_before_window"]


def test_devices_are_busy_each_for_itself(export: Export, read_export: ReadExport) -> None:
    export.launched(1_000, 1, deviceId=0)
    export.launched(1_020, 2, deviceId=1)
    summary = summarise(read_export(export))
    assert [(device.index, device.kernel_busy_ns, device.gpu_span_ns) for device in summary.devices] == [
        (0, 50, 50),
        (1, 50, 50),
    ]
    assert summary.kernel_busy_ns == 100


def test_devices_are_named_by_the_number_that_the_process_has_for_them(export: Export, read_export: ReadExport) -> None:
    export.launched(1_000, 1, deviceId=0)
    for gpu, name in ((0, "First GPU"), (3, "Fourth GPU")):
        export.add("TARGET_INFO_GPU", id=gpu, name=name, cuDevice=gpu)
    export.add("TARGET_INFO_CUDA_DEVICE", gpuId=3, cudaId=0, pid=5)
    assert [(device.index, device.name) for device in read_export(export).devices] == [(0, "Fourth GPU")]


def test_ranks_that_each_see_one_device_use_different_ones(export: Export, read_export: ReadExport) -> None:
    for gpu, pid in ((0, 5), (1, 8)):
        export.launched(1_000 + pid, 1, pid=pid, deviceId=0)
        export.add("TARGET_INFO_GPU", id=gpu, name=f"GPU of {pid}", cuDevice=gpu)
        export.add("TARGET_INFO_CUDA_DEVICE", gpuId=gpu, cudaId=0, pid=pid)
    trace = read_export(export)
    assert [(device.index, device.name) for device in trace.devices] == [(0, "GPU of 5"), (1, "GPU of 8")]


def test_equal_stream_numbers_of_two_contexts_are_two_streams(export: Export, read_export: ReadExport) -> None:
    export.launched(1_000, 1, streamId=7, contextId=1)
    export.launched(1_200, 2, streamId=7, contextId=2)
    export.launched(1_400, 3, streamId=9, contextId=2)
    trace = read_export(export)
    assert sorted(track.row for track in trace.tracks if track.device == 0) == [
        "stream 7 (context 1 of process 5)",
        "stream 7 (context 2 of process 5)",
        "stream 9",
    ]


def test_processes_and_threads_have_their_names(export: Export, read_export: ReadExport) -> None:
    export.launched(1_000, 1, pid=5)
    export.add("PROCESSES", globalPid=global_tid(5), pid=5, name="python3")
    export.add("ThreadNames", nameId=export.string("main"), priority=0, globalTid=global_tid(5, 6))
    track = next(track for track in read_export(export).tracks if track.device is None)
    assert (track.process, track.row) == ("python3 (5)", "thread 6 (main)")


def test_kernels_say_how_they_were_launched(export: Export, read_export: ReadExport) -> None:
    grid: dict[str, Any] = {"gridX": 4, "gridY": 8, "gridZ": 1, "blockX": 256, "blockY": 1, "blockZ": 1}
    export.launched(1_000, 1, registersPerThread=40, staticSharedMemory=1_024, dynamicSharedMemory=2_048, **grid)
    export.launched(1_200, 2, registersPerThread=40, staticSharedMemory=1_024, dynamicSharedMemory=2_048, **grid)
    export.launched(1_400, 3, registersPerThread="many", staticSharedMemory=-1, dynamicSharedMemory=0, gridX=0)
    trace = read_export(export)
    told = LaunchShape(registers=40, shared_bytes=3_072, grid=(4, 8, 1), block=(256, 1, 1))
    assert trace.shapes == (told, LaunchShape())
    assert trace.slices.shape[trace.slices.of(SliceKind.KERNEL)].tolist() == [0, 0, 1]


def test_names_come_demangled_else_short_else_mangled(export: Export, read_export: ReadExport) -> None:
    export.launched(1_000, 1, demangledName=None, shortName=export.string("short"), mangledName=export.string("_Z1"))
    export.launched(1_200, 2, demangledName=987_654, shortName=None, mangledName=export.string("_Z4long"))
    export.launched(1_400, 3, name="void whole<int>(int)", shortName=export.string("whole"))
    export.launched(1_600, 4, demangledName=None)
    trace = read_export(export)
    assert _names(trace, SliceKind.KERNEL) == ["short", "_Z4long", "void whole<int>(int)", "(no name)"]
    assert _finding(summarise(trace), "nameless_records").count == 1


def test_copies_are_named_as_in_other_traces(export: Export, read_export: ReadExport) -> None:
    place = {"deviceId": 0, "contextId": 1, "streamId": 7, "globalPid": global_tid(5)}
    for number, label in enumerate(("Pageable", "Pinned", "Device")):
        export.add("ENUM_CUDA_MEM_KIND", id=number, name=label.upper(), label=label)
    for start, (kind, source, end) in enumerate([(1, 1, 2), (8, 2, 2), (11, None, 2), (99, 0, 1), ("x", 7, 1)], 1):
        export.add(COPIES, start=start, end=start + 1, copyKind=kind, srcKind=source, dstKind=end, **place)
    export.add(FILLS, start=9, end=10, memKind=2, **place)
    assert _names(read_export(export), SliceKind.MEMCPY, SliceKind.MEMSET) == [
        "Memcpy HtoD (Pinned -> Device)",
        "Memcpy DtoD (Device -> Device)",
        "Memcpy HtoD unified",
        "Memcpy (Pageable -> Pinned)",
        "Memcpy",
        "Memset (Device)",
    ]


def test_nvtx_ranges_are_annotations_and_pytorchs_are_operators(export: Export, read_export: ReadExport) -> None:
    export.launched(1_000, 1)
    export.range("load batch", 100, 200)
    export.range(None, 210, 300, textId=export.string("registered"))
    export.range("aten::add, op_id = 314359", 310, 320)
    export.range("aten::mm, seq = 12, op_id = 3, sizes = [[2, 3], [3, 4]]", 330, 340)
    export.range("FSDP::forward (block.1), op_id = 9", 350, 360)
    export.range("a mark", 400, None, eventType=MARK)
    export.range("still open", 500, None)
    trace = read_export(export)
    assert _names(trace, SliceKind.ANNOTATION) == ["load batch", "registered", "FSDP::forward (block.1)"]
    assert _names(trace, SliceKind.OPERATOR) == ["aten::add", "aten::mm"]
    assert _finding(summarise(trace), "open_ranges").count == 1


def test_the_file_says_which_event_types_are_ranges(export: Export, read_export: ReadExport) -> None:
    export.add("ENUM_NSYS_EVENT_TYPE", id=7, name="NvtxPushPopRange", label="NvtxPushPopRange")
    export.range("a range", 100, 200, eventType=7)
    export.range("no range", 100, 200, eventType=59)
    assert _names(read_export(export), SliceKind.ANNOTATION) == ["a range"]


@pytest.mark.parametrize("mark", ["ProfilerStep#{}", "fusescope.forward#{}", "ProfilerStep#{}, op_id = 7"])
def test_ranges_that_look_like_steps_are_steps(export: Export, read_export: ReadExport, mark: str) -> None:
    for number in (0, 1):
        export.range(mark.format(number), 1_000 * number + 900, 1_000 * number + 1_800)
        export.launched(1_000 * number + 1_000, 2 * number + 1)
        export.launched(1_000 * number + 1_400, 2 * number + 2)
    trace = read_export(export)
    name = mark.partition(",")[0]
    assert [(step.name, step.kernels) for step in summarise(trace).steps] == [(name.format(0), 2), (name.format(1), 2)]
    forward = per_forward(trace, device="cuda:0")
    assert (forward.counts.kernels, forward.counts.launches, forward.device_time_ns) == (2, 2, (100, 100))
    assert (forward.counts.memcpy, forward.counts.memset) == (None, None)


def test_steps_that_several_processes_mark_are_in_doubt(export: Export, read_export: ReadExport) -> None:
    for pid in (5, 8):
        export.range("ProfilerStep#1", 900, 1_900, pid=pid)
        export.launched(1_000 + pid, 1, pid=pid)
    summary = summarise(read_export(export))
    assert _codes(summary) == ["steps_of_several_processes"]
    assert "steps.kernels" in summary.doubtful


def test_one_graph_launch_starts_many_kernels_each_with_its_node(export: Export, read_export: ReadExport) -> None:
    export.call("cudaGraphLaunch_v10000", 1_000, 3)
    for node, start in ((11, 1_100), (12, 1_200), (13, 1_300)):
        export.kernel(start, 50, 3, graphNodeId=node)
    export.kernel(100, 50, 2, graphNodeId=13)  # of a replay launched before the recording began
    trace = read_export(export)
    summary = summarise(trace)
    assert (summary.launches, summary.graph_launches, summary.kernels_from_graph_launches) == (0, 1, 4)
    rows = kernels_of_graphs(trace, find_launches(trace))
    assert [trace.shapes[number].graph_node for number in trace.slices.shape[rows].tolist()] == [13, 11, 12, 13]


def test_graphs_recorded_as_wholes_are_said_to_hide_their_kernels(export: Export, read_export: ReadExport) -> None:
    export.launched(1_000, 1)
    export.call("cudaGraphLaunch_v10000", 1_300, 2)
    export.add("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", start=1_400, end=1_900, correlationId=2, graphId=1, graphExecId=2)
    summary = summarise(read_export(export))
    finding = _finding(summary, "graphs_as_wholes")
    assert "--cuda-graph-trace=node" in finding.message
    assert set(finding.doubtful) >= {"kernels", "gpu_span_ns", "idle", "devices.idle", "steps.kernels"}


OLD = {
    KERNELS: ("graphNodeId", "mangledName", "contextId"),
    CALLS: ("eventClass", "returnValue"),
    RANGES: ("textId", "domainId"),
}


def test_columns_that_older_versions_lack_are_not_missed(export: Export, read_export: ReadExport) -> None:
    for table, columns in OLD.items():
        export.without(table, columns)
    export.range("ProfilerStep#0", 900, 1_900)
    export.launched(1_000, 1)
    summary = summarise(read_export(export))
    assert (summary.kernels, summary.linked_kernels) == (1, 1)
    assert [step.kernels for step in summary.steps] == [1]
    assert summary.health == ()


def test_without_processes_correlations_are_taken_as_one_processs(export: Export, read_export: ReadExport) -> None:
    export.without(KERNELS, ["globalPid"])
    export.launched(1_000, 1)
    assert summarise(read_export(export)).linked_kernels == 1


def test_an_export_without_cuda_knows_no_counts(export: Export, read_export: ReadExport) -> None:
    export.range("ProfilerStep#0", 100, 200)
    summary = summarise(read_export(export))
    counts = (summary.kernels, summary.memcpy, summary.memset, summary.launches, summary.kernels_from_graph_launches)
    assert counts == (None,) * 5
    assert (summary.kernel_sum_ns, summary.gpu_busy_ns, summary.gpu_span_ns) == (None, None, None)
    assert [step.kernels for step in summary.steps] == [None]
    message = _finding(summary, "no_gpu_records").message
    assert message.startswith("this export has no GPU records: nsys was run without --trace=cuda")


def test_empty_tables_of_an_export_without_cuda_are_no_zeros(tmp_path: Path, export: Export) -> None:
    export.range("work", 100, 200)
    for table in (KERNELS, COPIES, FILLS, CALLS):
        export.rows[table] = []
    summary = summarise(read_trace(export.save(tmp_path / "export.sqlite")))
    assert summary.kernels is None
    assert "no_gpu_records" in _codes(summary)


def test_launches_without_any_gpu_table_lost_what_the_gpu_did(export: Export, read_export: ReadExport) -> None:
    export.call("cudaLaunchKernel_v7000", 100, 1)
    summary = summarise(read_export(export))
    assert (summary.kernels, summary.launches) == (None, 1)
    assert _codes(summary) == ["no_gpu_records", "gpu_records_missing"]


def test_content_decides_also_about_packed_exports(export: Export, tmp_path: Path) -> None:
    export.launched(1_000, 1)
    plain = export.save(tmp_path / "plain.json")
    packed = tmp_path / "odd name?#%41.sqlite"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert summarise(read_trace(packed)) == summarise(read_trace(plain))


def test_file_names_are_no_addresses(export: Export, tmp_path: Path) -> None:
    export.launched(1_000, 1)
    assert summarise(read_trace(export.save(tmp_path / "a?mode=rwc&b#c%41.sqlite"))).kernels == 1


def test_the_parse_child_reads_an_export(export: Export, tmp_path: Path) -> None:
    export.range("fusescope.forward#0", 900, 1_900)
    export.launched(1_000, 1)
    parsed = parse_in_child(export.save(tmp_path / "export.sqlite"), device="cuda:0", directory=tmp_path)
    assert parsed.summary.kernels == 1
    assert parsed.forward is not None
    assert [use.name for use in parsed.forward.kernels] == ["some_kernel"]


def test_reading_a_public_export_leaves_it_and_its_folder_as_they_were(public_traces: Path, tmp_path: Path) -> None:
    content = (public_traces / "53_nsys_rtx3080_tiny.sqlite").read_bytes()
    path = tmp_path / "export.sqlite"
    path.write_bytes(content)
    read_trace(path)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_two_devices_of_a_public_export_are_told_apart(public_traces: Path) -> None:
    trace = read_trace(public_traces / "50_nsys_h100_2gpu_1s.sqlite")
    summary = summarise(trace)
    for device in summary.devices:
        assert device.gpu_span_ns is not None
        assert device.gpu_busy_ns <= device.gpu_span_ns
    assert [device.kernel_busy_ns for device in summary.devices] == [22_385_163, 22_444_359]
    assert sorted(track.row for track in trace.tracks if track.device is not None) == ["stream 15", "stream 7"]
    assert (summary.linked_kernels, summary.launched_before_window) == (1_632, 1_810)
    linked = find_launches(trace).call_of != ABSENT
    assert linked.sum() == 1_632 + 438 + 22


def test_a_public_export_can_be_drawn(public_traces: Path) -> None:
    drawn = timeline(read_trace(public_traces / "50_nsys_h100_2gpu_1s.sqlite"))
    assert [track.name for track in drawn.tracks if track.device is not None] == [
        "GPU 0 · stream 7",
        "GPU 1 · stream 15",
    ]


def test_the_command_prints_a_public_export(public_traces: Path) -> None:
    path = public_traces / "53_nsys_rtx3080_tiny.sqlite"
    command = [sys.executable, "-m", "app.cli", "trace", str(path), "--json"]
    told = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    assert (told["kernels"], told["memcpy"], told["memset"]) == (2, 1, None)
    assert [device["name"] for device in told["devices"]] == ["NVIDIA GeForce RTX 3080"]
