"""Facts of whole recordings: obvious ones first, then every figure known of the public traces."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from profiles.results import Finding
from profiles.trace.errors import TraceError, UnsupportedFormat
from profiles.trace.model import Trace
from profiles.trace.read import read_trace
from profiles.trace.summary import TraceSummary, summarise

if TYPE_CHECKING:
    from conftest import Draft

ReadDraft = Callable[["Draft"], Trace]

COUNTS = {
    "kernels": "kernels",
    "linked_kernels": "linked_kernels",
    "memcpy": "memcpy",
    "memset": "memset",
    "launches": "launches",
    "graph_launches": "graph_launches",
    "distinct_kernel_names": "distinct_kernel_names",
    "kernels_from_graph_launches": "kernels_from_graph_launches",
    "kernels_launched_before_window": "launched_before_window",
    "events": "records",
}
TIMES = {
    "kernel_sum_us": "kernel_sum_ns",
    "busy_kernel_us": "kernel_busy_ns",
    "busy_gpu_us": "gpu_busy_ns",
    "gpu_span_us": "gpu_span_ns",
}


def _codes(summary: TraceSummary) -> list[str]:
    return [finding.code for finding in summary.health]


def _finding(summary: TraceSummary, code: str) -> Finding:
    return next(finding for finding in summary.health if finding.code == code)


def test_sum_busy_and_span_of_overlapping_slices(draft: Draft, read_draft: ReadDraft) -> None:
    for correlation, (start, duration, stream) in enumerate([(100, 10, 7), (105, 10, 8), (130, 5, 7)], 1):
        draft.launch(start - 20, correlation)
        draft.gpu(start, duration, correlation, stream=stream)
    draft.call("cudaMemcpyAsync", 120, 4)
    draft.gpu(134, 6, 4, category="gpu_memcpy", name="Memcpy DtoD")
    summary = summarise(read_draft(draft))
    assert summary.kernel_sum_ns == 25_000
    assert summary.kernel_busy_ns == 20_000
    assert summary.gpu_busy_ns == 25_000
    assert summary.gpu_span_ns == 40_000
    assert (summary.kernels, summary.memcpy, summary.memset, summary.launches) == (3, 1, 0, 3)
    assert _codes(summary) == ["stream_overlap"]  # the copy begins 1 µs before the kernel ahead of it ends
    assert (summary.stream_overlap_ns, summary.doubtful) == (1_000, ())


def test_devices_are_busy_each_for_itself(draft: Draft, read_draft: ReadDraft) -> None:
    for device in (0, 1):
        draft.launch(50 + device, device + 1)
        draft.gpu(100, 10, device + 1, device=device)
    summary = summarise(read_draft(draft))
    assert [(device.index, device.kernel_busy_ns) for device in summary.devices] == [(0, 10_000), (1, 10_000)]
    assert summary.kernel_busy_ns == 20_000


def test_sync_records_and_gpu_annotations_are_no_kernels(draft: Draft, read_draft: ReadDraft) -> None:
    draft.launched(100, 1)
    for category in ("cuda_sync", "gpu_user_annotation", "overhead", "python_function"):
        draft.gpu(100, 50, 1, category=category)
    assert summarise(read_draft(draft)).kernel_sum_ns == 5_000


def test_a_driver_call_beneath_a_runtime_call_is_the_same_launch(draft: Draft, read_draft: ReadDraft) -> None:
    draft.launched(100, 1)
    draft.call("cuLaunchKernelEx", 100.5, 1, category="cuda_driver")
    draft.call("cuLaunchKernel", 200, 2, category="cuda_driver")  # a driver launch of its own
    draft.gpu(210, 5, 2)
    summary = summarise(read_draft(draft))
    assert (summary.launches, summary.linked_kernels) == (2, 2)
    assert summary.health == ()


def test_one_graph_launch_starts_many_kernels(draft: Draft, read_draft: ReadDraft) -> None:
    draft.forward(0, 90, 100)
    draft.call("cudaGraphLaunch", 100, 1)
    for start in (110, 120, 130):
        draft.gpu(start, 5, 1)
    summary = summarise(read_draft(draft))
    assert (summary.launches, summary.graph_launches, summary.kernels_from_graph_launches) == (0, 1, 3)
    assert [step.kernels for step in summary.steps] == [3]


def test_a_kernel_belongs_to_the_step_that_launched_it_on_whatever_thread(draft: Draft, read_draft: ReadDraft) -> None:
    draft.forward(0, 100, 50)
    draft.forward(1, 200, 50)
    draft.call("cudaLaunchKernel", 110, 1, tid=2)
    draft.gpu(210, 5, 1)  # runs while the next step is open
    draft.launched(220, 2)
    draft.launched(230, 3)
    draft.launched(170, 4)  # between the steps
    summary = summarise(read_draft(draft))
    assert [(step.name, step.kernels) for step in summary.steps] == [
        ("fusescope.forward#0", 1),
        ("fusescope.forward#1", 2),
    ]
    assert _codes(summary) == ["unstable_counts"]
    assert "1, 2" in _finding(summary, "unstable_counts").message


def test_work_launched_before_the_recording_is_apart(draft: Draft, read_draft: ReadDraft) -> None:
    draft.forward(0, 100, 100)
    draft.gpu(105, 5, 3)  # runs in the step, launched before the first recorded call
    draft.call("cudaDeviceSynchronize", 101, 10)
    draft.launched(120, 11)
    summary = summarise(read_draft(draft))
    assert (summary.kernels, summary.linked_kernels, summary.launched_before_window) == (2, 1, 1)
    assert [step.kernels for step in summary.steps] == [1]
    assert _codes(summary) == ["launched_before_window"]


def test_a_slice_whose_launch_was_lost_makes_the_steps_unknown(draft: Draft, read_draft: ReadDraft) -> None:
    draft.forward(0, 100, 100)
    draft.launched(110, 11)
    draft.gpu(130, 5, 12)
    draft.launched(140, 13)
    summary = summarise(read_draft(draft))
    assert (summary.kernels, summary.launched_before_window) == (3, 0)
    assert [step.kernels for step in summary.steps] == [None]
    assert "steps.kernels" in _finding(summary, "slices_without_launches").doubtful


def test_kernels_without_any_calls_have_no_window(draft: Draft, read_draft: ReadDraft) -> None:
    draft.gpu(130, 5, 12)
    summary = summarise(read_draft(draft))
    assert summary.kernels == 1
    assert summary.launched_before_window is None


def test_launches_without_any_gpu_record_say_that_those_are_missing(draft: Draft, read_draft: ReadDraft) -> None:
    draft.forward(0, 100, 100)
    draft.launch(110, 1)
    summary = summarise(read_draft(draft))
    assert (summary.kernels, summary.kernel_sum_ns, summary.gpu_span_ns) == (0, 0, None)
    assert [step.kernels for step in summary.steps] == [None]
    assert _codes(summary) == ["gpu_records_missing"]


def test_a_launch_without_its_slice_makes_only_its_step_unknown(draft: Draft, read_draft: ReadDraft) -> None:
    draft.forward(0, 100, 50)
    draft.forward(1, 200, 50)
    draft.launched(110, 1)
    draft.launched(210, 2)
    draft.launch(220, 3)
    summary = summarise(read_draft(draft))
    assert [step.kernels for step in summary.steps] == [1, None]
    assert _finding(summary, "launches_without_slices").count == 1


def test_launches_whose_slices_would_have_come_after_the_recording_are_told_apart(
    draft: Draft, read_draft: ReadDraft
) -> None:
    draft.launch(100, 1)  # lost
    draft.launched(110, 2)
    draft.launch(120, 3)
    draft.launch(130, 4)
    message = _finding(summarise(read_draft(draft)), "launches_without_slices").message
    assert message.startswith("3 launches (0 of graphs) without a slice")
    assert "2 after the last one that has its own" in message


def test_launches_while_capturing_a_graph_start_nothing_and_that_is_right(draft: Draft, read_draft: ReadDraft) -> None:
    draft.forward(0, 100, 100)
    draft.call("cudaStreamBeginCapture", 105, 1)
    draft.launch(110, 2)
    draft.call("cudaStreamEndCapture", 115, 3)
    draft.launched(120, 4)
    summary = summarise(read_draft(draft))
    assert [step.kernels for step in summary.steps] == [1]
    assert summary.health == ()


def test_correlations_used_twice_make_the_steps_unknown(draft: Draft, read_draft: ReadDraft) -> None:
    draft.forward(0, 100, 100)
    draft.launched(110, 1)
    draft.launched(130, 1)
    summary = summarise(read_draft(draft))
    assert [step.kernels for step in summary.steps] == [None]
    assert _codes(summary) == ["correlations_reused"]


def test_a_recording_of_a_cpu_alone_knows_no_kernels_per_step(draft: Draft, read_draft: ReadDraft) -> None:
    draft.forward(0, 100, 100)
    draft.operator("aten::mm", 110, 10)
    summary = summarise(read_draft(draft))
    assert [step.kernels for step in summary.steps] == [None]
    assert _codes(summary) == ["no_gpu_activity"]


def test_slices_that_begin_before_their_launch_show_drifted_clocks(draft: Draft, read_draft: ReadDraft) -> None:
    draft.launch(110, 1)
    draft.gpu(90, 5, 1)
    finding = _finding(summarise(read_draft(draft)), "slices_before_launches")
    assert "by up to 20.0 µs" in finding.message


def test_times_in_nanoseconds_are_read_as_microseconds_and_marked(draft: Draft, read_draft: ReadDraft) -> None:
    now_us = 1_764_000_000_000_000
    draft.launched(now_us, 1)
    assert summarise(read_draft(draft)).health == ()
    draft.events.clear()
    draft.launched(now_us * 1000, 1, duration=5000)
    summary = summarise(read_draft(draft))
    assert (summary.unit, summary.kernels) == ("us", 0)
    assert _codes(summary) == ["suspicious_unit", "invalid_records"]


def test_times_since_an_epoch_in_nanoseconds_are_marked_with_the_length_they_give(
    draft: Draft, read_draft: ReadDraft
) -> None:
    draft.surroundings["baseTimeNanoseconds"] = 1_764_000_000 * 10**9
    draft.launched(4_200_000 * 10**9, 1, duration=5000)
    summary = summarise(read_draft(draft))
    assert summary.kernel_sum_ns == 5_000_000
    assert "makes it 5,010 µs long" in _finding(summary, "suspicious_unit").message


def test_profiler_steps_of_old_files_are_operators_by_category(draft: Draft, read_draft: ReadDraft) -> None:
    draft.add("Operator", "ProfilerStep#3", 100, 100, tid="4093687616")
    draft.call("cudaLaunchKernel", 110, 1, category="Runtime")
    draft.gpu(120, 5, 1, category="Kernel")
    summary = summarise(read_draft(draft))
    assert [(step.name, step.kernels) for step in summary.steps] == [("ProfilerStep#3", 1)]


def test_every_known_figure_of_a_public_trace_is_met_exactly(public_traces: Path, public_trace: str) -> None:
    truth = json.loads((public_traces / "truth.json").read_text())[public_trace]
    summary = summarise(read_trace(public_traces / public_trace))
    found = {name: getattr(summary, field) for name, field in COUNTS.items() if name in truth}
    found |= {name: Decimal(getattr(summary, field)) for name, field in TIMES.items() if name in truth}
    expected = {name: truth[name] for name in COUNTS if name in truth}
    expected |= {name: Decimal(str(truth[name])) * 1000 for name in TIMES if name in truth}
    assert found == expected
    assert sorted(step.name for step in summary.steps) == truth.get("steps", [])
    by_device = {str(device.index): device.kernel_busy_ns for device in summary.devices}
    if "busy_by_device_us" in truth:
        assert by_device == {key: Decimal(str(busy)) * 1000 for key, busy in truth["busy_by_device_us"].items()}
    if "kernels_per_step" in truth:
        assert {step.kernels for step in summary.steps} == {truth["kernels_per_step"]}
        assert len(summary.steps) == truth["recorded_steps"]


def test_an_execution_trace_is_refused_by_name(public_traces: Path) -> None:
    with pytest.raises(UnsupportedFormat, match="execution trace"):
        read_trace(next(public_traces.glob("14_*")))


def test_equal_content_in_another_order_gives_equal_results(public_traces: Path) -> None:
    before, after = (summarise(read_trace(next(public_traces.glob(f"{number}_*")))) for number in (31, 32))
    assert before == after


def test_gpu_records_missing_from_a_public_trace_are_no_zero_per_forward(public_traces: Path) -> None:
    summary = summarise(read_trace(next(public_traces.glob("10_*"))))
    assert _finding(summary, "gpu_records_missing").count == 77


GOOD = {"kernels": 14, "kernel_sum_ns": 110_881, "gpu_span_ns": 8_911_887}


@pytest.mark.parametrize(
    ("prefix", "expected", "code"),
    [
        ("d03", GOOD, "repaired_text"),
        ("d04", GOOD, "repaired_text"),
        ("d07", GOOD, "repaired_text"),
        ("d08", GOOD, "repaired_text"),
        ("d09", GOOD, None),
        ("d10", GOOD, "truncated"),
        ("d11", GOOD, "invalid_records"),
        ("d13", {"kernels": 13, "kernel_sum_ns": 104_161}, "invalid_records"),
        ("d14", GOOD, "duplicate_records"),
        ("d15", GOOD, None),
        ("d16", GOOD, None),
        ("d18", GOOD, None),
        ("d26", {"kernels": 13, "kernel_sum_ns": 104_001}, "nameless_records"),
        ("d28", {"kernels": 14, "gpu_span_ns": 8_911_887_000}, "suspicious_unit"),
    ],
)
def test_a_damaged_public_trace_gives_what_is_sure(
    public_traces: Path, prefix: str, expected: dict[str, int], code: str | None
) -> None:
    summary = summarise(read_trace(next((public_traces / "derived").glob(f"{prefix}*"))))
    assert {name: getattr(summary, name) for name in expected} == expected
    assert code is None or code in _codes(summary)


DOUBTS = {
    "d10": {"kernels", "memcpy", "memset", "launches", "kernel_sum_ns", "gpu_span_ns", "idle", "steps.kernels"},
    "d11": {"kernels", "kernel_sum_ns", "gpu_span_ns", "steps.kernels"},
    "d13": {"kernels", "kernel_sum_ns", "gpu_span_ns", "steps.kernels"},
    "d14": {"kernels", "launches"},
    "d26": {"kernels", "kernel_sum_ns", "distinct_kernel_names"},
    "d28": {"kernel_sum_ns", "kernel_busy_ns", "gpu_busy_ns", "gpu_span_ns", "idle"},
}


@pytest.mark.parametrize("prefix", DOUBTS)
def test_a_damaged_public_trace_names_the_numbers_in_doubt(public_traces: Path, prefix: str) -> None:
    summary = summarise(read_trace(next((public_traces / "derived").glob(f"{prefix}*"))))
    assert DOUBTS[prefix] <= set(summary.doubtful)
    assert all(name.split(".")[0] in TraceSummary.__struct_fields__ for name in summary.doubtful)


def test_a_trace_in_nanoseconds_tells_the_unit_assumed_and_the_span_that_it_gives(public_traces: Path) -> None:
    summary = summarise(read_trace(next((public_traces / "derived").glob("d28*"))))
    message = _finding(summary, "suspicious_unit").message
    assert "read as µs" in message
    assert "9,583,086 µs long" in message
    assert summary.unit == "us"


def test_a_slice_a_minute_after_its_launch_is_no_queue(draft: Draft, read_draft: ReadDraft) -> None:
    draft.launch(100, 1)
    draft.gpu(100 + 61e6, 5, 1)
    draft.launch(110, 2)
    draft.gpu(100 + 59e6, 5, 2)
    finding = _finding(summarise(read_draft(draft)), "slices_long_after_launches")
    assert (finding.count, "up to 61 s" in finding.message) == (1, True)


@pytest.mark.parametrize("prefix", ["d01", "d02", "d06", "d19", "d20", "d21", "d23", "d24"])
def test_a_hopeless_public_trace_is_refused_in_one_line(public_traces: Path, prefix: str) -> None:
    with pytest.raises(TraceError) as caught:
        read_trace(next((public_traces / "derived").glob(f"{prefix}*")))
    assert "\n" not in str(caught.value)
