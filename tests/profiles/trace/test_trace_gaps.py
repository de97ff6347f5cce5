"""Why a device was idle: on hand-made traces whose answer is obvious, and sums on real ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from profiles.recorded import Attribution, GapCause, Idle
from profiles.supervisor.completion import traced_device_time
from profiles.trace.forward import per_forward
from profiles.trace.model import Trace
from profiles.trace.read import read_trace
from profiles.trace.summary import TraceSummary, summarise

if TYPE_CHECKING:
    from conftest import Draft

ReadDraft = Callable[["Draft"], Trace]
REAL = ("01", "03", "04", "07", "08", "13", "15", "16", "17", "18", "21", "24", "25", "27", "29", "30", "50", "53")


def _idle_us(summary: TraceSummary) -> dict[GapCause, float]:
    return {idle.cause: idle.total_ns / 1000 for idle in summary.idle}


def _launched(draft: Draft, launch: float, start: float, duration: float, correlation: int, *, stream: int = 7) -> None:
    draft.launch(launch, correlation)
    draft.gpu(start, duration, correlation, stream=stream)


def test_the_host_is_late_when_the_next_launch_began_after_the_device_ran_dry(
    draft: Draft, read_draft: ReadDraft
) -> None:
    _launched(draft, 100, 110, 10, 1)
    _launched(draft, 130, 140, 10, 2)
    summary = summarise(read_draft(draft))
    assert _idle_us(summary) == {GapCause.HOST_LATE: 20}
    (device,) = summary.devices
    assert (device.gpu_span_ns, device.gpu_busy_ns, device.idle_ns) == (40_000, 20_000, 20_000)


def test_a_launch_ahead_of_time_leaves_the_gap_between_two_kernels(draft: Draft, read_draft: ReadDraft) -> None:
    _launched(draft, 100, 110, 10, 1)
    _launched(draft, 105, 121.5, 10, 2)
    assert _idle_us(summarise(read_draft(draft))) == {GapCause.BETWEEN_SLICES: 1.5}


def test_a_device_that_ran_dry_while_the_host_waited_for_it_was_synchronised(
    draft: Draft, read_draft: ReadDraft
) -> None:
    _launched(draft, 100, 110, 10, 1)
    draft.add("cuda_runtime", "cudaStreamSynchronize", 105, 17, args={"correlation": 2})
    _launched(draft, 130, 140, 10, 3)
    assert _idle_us(summarise(read_draft(draft))) == {GapCause.SYNCHRONISATION: 20}


def test_a_blocking_copy_is_a_synchronisation_and_an_asynchronous_one_is_none(
    draft: Draft, read_draft: ReadDraft
) -> None:
    for at, name, correlation in ((100, "cudaMemcpy", 1), (200, "cudaMemcpyAsync", 3)):
        draft.add("cuda_runtime", name, at, 22, args={"correlation": correlation})
        draft.gpu(at + 10, 10, correlation, category="gpu_memcpy", name="Memcpy DtoH")
        _launched(draft, at + 30, at + 40, 60, correlation + 1)
    idle = _idle_us(summarise(read_draft(draft)))
    assert idle == {GapCause.SYNCHRONISATION: 20, GapCause.HOST_LATE: 30}  # 10 of them before the second copy


def test_another_threads_wait_for_the_device_explains_nothing(draft: Draft, read_draft: ReadDraft) -> None:
    _launched(draft, 100, 110, 10, 1)
    draft.add("cuda_runtime", "cudaDeviceSynchronize", 105, 17, tid=2, args={"correlation": 2})
    _launched(draft, 130, 140, 10, 3)
    assert _idle_us(summarise(read_draft(draft))) == {GapCause.HOST_LATE: 20}


def test_a_kernel_that_begins_once_another_streams_work_has_ended_depended_on_it(
    draft: Draft, read_draft: ReadDraft
) -> None:
    _launched(draft, 100, 110, 30, 1, stream=7)
    _launched(draft, 105, 143, 10, 2, stream=8)
    assert _idle_us(summarise(read_draft(draft))) == {GapCause.DEPENDENCY: 3}


def test_a_launch_behind_a_wait_for_an_event_depended_on_that(draft: Draft, read_draft: ReadDraft) -> None:
    _launched(draft, 100, 110, 30, 1)
    draft.call("cudaStreamWaitEvent", 103, 2)
    _launched(draft, 106, 143, 10, 3)
    _launched(draft, 109, 155, 10, 4)  # launched after the wait, and after the launch that it held back
    idle = _idle_us(summarise(read_draft(draft)))
    assert idle == {GapCause.DEPENDENCY: 3, GapCause.BETWEEN_SLICES: 2}


def test_gaps_within_a_graph_are_the_graphs_whatever_was_waited_for_before_it(
    draft: Draft, read_draft: ReadDraft
) -> None:
    draft.call("cudaStreamWaitEvent", 95, 1)
    draft.call("cudaGraphLaunch", 100, 2)
    for start in (110, 122, 134):
        draft.gpu(start, 10, 2)
    assert _idle_us(summarise(read_draft(draft))) == {GapCause.BETWEEN_SLICES: 4}


def test_what_lies_between_the_slices_of_two_steps_belongs_to_neither(draft: Draft, read_draft: ReadDraft) -> None:
    for number, start in enumerate((100, 200)):
        draft.forward(number, start, 50)
        _launched(draft, start + 5, start + 10, 10, 2 * number + 1)
        _launched(draft, start + 30, start + 40, 10, 2 * number + 2)
    assert _idle_us(summarise(read_draft(draft))) == {GapCause.BETWEEN_STEPS: 60, GapCause.HOST_LATE: 40}


def test_a_gap_before_a_slice_without_a_launch_has_no_known_cause(draft: Draft, read_draft: ReadDraft) -> None:
    draft.gpu(100, 10, 1)
    draft.gpu(120, 10, 2)
    assert _idle_us(summarise(read_draft(draft))) == {GapCause.NOT_KNOWN: 10}


def test_a_long_gap_after_a_launch_ahead_of_time_is_unexplained_and_makes_counts_doubtful(
    draft: Draft, read_draft: ReadDraft
) -> None:
    draft.call("cudaGraphLaunch", 100, 1)
    draft.gpu(110, 10, 1)
    draft.gpu(1120, 10, 1)
    summary = summarise(read_draft(draft))
    assert _idle_us(summary) == {GapCause.UNEXPLAINED: 1000}
    assert [finding.code for finding in summary.health] == ["unexplained_gaps"]
    assert {"kernels", "idle"} <= set(summary.doubtful)


def test_each_device_has_gaps_of_its_own_and_the_file_their_sum(draft: Draft, read_draft: ReadDraft) -> None:
    for device in (0, 1):
        for place, start in enumerate((100, 150)):
            correlation = 10 * device + place + 1
            draft.launch(start + device, correlation)
            draft.gpu(start + 10, 10, correlation, device=device, stream=device)
    summary = summarise(read_draft(draft))
    assert [device.idle_ns for device in summary.devices] == [40_000, 40_000]
    (idle,) = summary.idle
    assert (idle.cause, idle.count, idle.total_ns, idle.longest_ns) == (GapCause.HOST_LATE, 2, 80_000, 40_000)


def test_slices_are_attributed_exactly_by_graph_by_order_or_not_at_all(draft: Draft, read_draft: ReadDraft) -> None:
    draft.gpu(50, 5, 1)  # launched before the recording
    draft.launched(100, 5)
    draft.call("cudaGraphLaunch", 200, 6)
    draft.gpu(210, 5, 6)
    draft.gpu(220, 5, 6)
    draft.gpu(300, 5, 9)
    coverage = summarise(read_draft(draft)).coverage
    assert coverage.kernels == Attribution(exact=1, by_graph=2, inferred=1, unknown=1)
    assert coverage.kernels.coverage == pytest.approx(0.6)
    assert coverage.memset.coverage is None


@pytest.mark.parametrize("prefix", REAL)
def test_the_causes_add_up_to_all_idle_time_of_a_public_trace(public_traces: Path, prefix: str) -> None:
    summary = summarise(read_trace(next(public_traces.glob(f"{prefix}_*"))))
    for device in summary.devices:
        assert device.gpu_span_ns is not None
        assert sum(idle.total_ns for idle in device.idle) == device.gpu_span_ns - device.gpu_busy_ns
    assert sum(idle.total_ns for idle in summary.idle) == sum(device.idle_ns or 0 for device in summary.devices)


@pytest.mark.parametrize("prefix", REAL)
def test_every_kernel_of_a_public_trace_is_attributed_in_one_way(public_traces: Path, prefix: str) -> None:
    summary = summarise(read_trace(next(public_traces.glob(f"{prefix}_*"))))
    kernels = summary.coverage.kernels
    assert kernels.total == summary.kernels
    assert kernels.exact + kernels.by_graph == summary.linked_kernels
    assert kernels.by_graph == summary.kernels_from_graph_launches
    assert kernels.inferred == summary.launched_before_window


def test_the_recording_that_lost_its_graphs_kernels_is_the_one_with_unexplained_gaps(public_traces: Path) -> None:
    unexplained = {
        prefix
        for prefix in REAL
        if any(
            finding.code == "unexplained_gaps"
            for finding in summarise(read_trace(next(public_traces.glob(f"{prefix}_*")))).health
        )
    }
    assert unexplained == {"04"}


def test_a_forward_pass_says_why_its_device_was_idle(draft: Draft, read_draft: ReadDraft) -> None:
    for number, start in enumerate((100, 200, 300)):
        draft.forward(number, start, 80)
        _launched(draft, start + 5, start + 10, 10, 2 * number + 1)
        _launched(draft, start + 30, start + 35 + number, 10, 2 * number + 2)
    found = per_forward(read_draft(draft), device="cuda:0").recorded
    assert found is not None
    assert found.span_ns == 36_000  # of the second pass: the middle one by length
    assert found.idle == (Idle(cause=GapCause.HOST_LATE, count=1, total_ns=16_000, longest_ns=16_000),)
    assert (found.stream_overlap_ns, found.kernels) == (0, Attribution(exact=6))


@pytest.mark.parametrize("name", ["naive", "sdpa_math", "swiglu_compiled", "swiglu_graph"])
def test_a_recorded_pass_of_our_own_is_busy_or_idle_all_the_time(recordings: Path, name: str) -> None:
    forward = per_forward(read_trace(recordings / f"cuda_{name}.json.gz"), device="cuda:0")
    assert forward.recorded is not None
    idle_ns = sum(idle.total_ns for idle in forward.recorded.idle)
    busy_ns = sum(use.total_ns for use in forward.kernels)  # on one stream, without overlap
    assert forward.recorded.span_ns - idle_ns == pytest.approx(busy_ns, rel=0.2)
    assert forward.recorded.kernels.coverage == 1


def test_a_traced_time_that_lacks_slices_is_in_doubt(draft: Draft, read_draft: ReadDraft) -> None:
    draft.forward(0, 100, 100)
    _launched(draft, 110, 120, 10, 1)
    whole = traced_device_time(per_forward(read_draft(draft), device="cuda:0"), gpu_time=None)
    draft.launch(300, 2)  # after the step: the step's own count is known
    lacking = traced_device_time(per_forward(read_draft(draft), device="cuda:0"), gpu_time=None)
    assert whole is not None
    assert whole.doubt is None
    assert lacking is not None
    assert lacking.doubt is not None
    assert lacking.doubt.startswith("1 launch")
