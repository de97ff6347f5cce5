"""The columns to draw, and their way through a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from profiles.results import Role
from profiles.trace.model import Trace
from profiles.trace.read import read_trace
from profiles.trace.timeline import Timeline, TrackKind, load_timeline, save_timeline, timeline

if TYPE_CHECKING:
    from conftest import Draft

ReadDraft = Callable[["Draft"], Trace]


def _row(drawn: Timeline, name: str) -> int:
    return int(np.flatnonzero(drawn.name == drawn.names.index(name))[0])


def test_slices_stand_on_rows_of_their_own_kind_with_times_from_the_first(draft: Draft, read_draft: ReadDraft) -> None:
    draft.forward(0, 100, 100)
    draft.operator("aten::mul", 105, 20)
    draft.launched(110, 1, duration=5, name="triton_poi_fused_mul_0")
    draft.gpu(300, 5, 9, stream=13, name="late")
    drawn = timeline(read_draft(draft))
    assert [(track.kind, track.device) for track in drawn.tracks] == [
        (TrackKind.STREAM, 0),
        (TrackKind.STREAM, 0),
        (TrackKind.LAUNCHES, None),
        (TrackKind.OPS, None),
        (TrackKind.ANNOTATIONS, None),
    ]
    assert [track.name for track in drawn.tracks[:2]] == ["GPU 0 · stream 7", "GPU 0 · stream 13"]
    kernel = _row(drawn, "triton_poi_fused_mul_0")
    assert (drawn.start_ns[kernel], drawn.duration_ns[kernel], drawn.track[kernel]) == (20_000, 5_000, 0)
    assert drawn.track[_row(drawn, "aten::mul")] == 3
    assert drawn.roles[drawn.names.index("triton_poi_fused_mul_0")] is Role.POINTWISE


def test_a_synchronisation_is_no_launch(draft: Draft, read_draft: ReadDraft) -> None:
    draft.launched(110, 1)
    draft.call("cudaDeviceSynchronize", 130, 2)
    drawn = timeline(read_draft(draft))
    kinds = [
        drawn.tracks[drawn.track[_row(drawn, name)]].kind for name in ("cudaLaunchKernel", "cudaDeviceSynchronize")
    ]
    assert kinds == [TrackKind.LAUNCHES, TrackKind.CALLS]


def test_a_slice_points_to_the_row_of_its_launch(draft: Draft, read_draft: ReadDraft) -> None:
    draft.launched(110, 1)
    drawn = timeline(read_draft(draft))
    assert drawn.launch[_row(drawn, "some_kernel")] == _row(drawn, "cudaLaunchKernel")
    assert drawn.launch[_row(drawn, "cudaLaunchKernel")] == -1


def test_a_step_reaches_from_its_first_launch_to_the_end_of_its_last_slice(draft: Draft, read_draft: ReadDraft) -> None:
    draft.forward(0, 100, 50)
    draft.launch(120, 1)
    draft.gpu(400, 10, 1)
    (step,) = timeline(read_draft(draft)).steps
    assert step == ("fusescope.forward#0", 20_000, 310_000)


def test_a_step_on_a_cpu_reaches_over_its_operators(draft: Draft, read_draft: ReadDraft) -> None:
    draft.forward(0, 100, 100)
    draft.operator("aten::matmul", 110, 60)
    draft.operator("aten::bmm", 120, 30)
    (step,) = timeline(read_draft(draft)).steps
    assert step == ("fusescope.forward#0", 20_000, 50_000)


def test_an_annotation_has_no_role_whatever_its_name(draft: Draft, read_draft: ReadDraft) -> None:
    draft.add("user_annotation", "softmax part", 100, 10)
    assert timeline(read_draft(draft)).roles == (Role.OTHER,)


def test_stages_are_kept_for_launches_operators_and_kernels(recordings: Path) -> None:
    drawn = timeline(read_trace(recordings / "cuda_naive.json.gz"))
    softmax = next(index for index, name in enumerate(drawn.short_names) if name == "softmax_warp_forward")
    rows = np.flatnonzero(drawn.name == softmax)
    assert {drawn.stage_sets[index] for index in drawn.stages[rows]} == {("softmax",)}
    assert {drawn.stage_sets[index] for index in drawn.stages[drawn.launch[rows]]} == {("softmax",)}


def test_a_timeline_comes_back_from_its_file_as_it_was(recordings: Path, tmp_path: Path) -> None:
    drawn = timeline(read_trace(recordings / "cuda_naive.json.gz"))
    save_timeline(drawn, tmp_path / "timeline.npz")
    loaded = load_timeline(tmp_path / "timeline.npz")
    for table in ("tracks", "names", "short_names", "roles", "stage_sets", "steps"):
        assert getattr(loaded, table) == getattr(drawn, table)
    for column in ("track", "name", "start_ns", "duration_ns", "launch", "stages"):
        np.testing.assert_array_equal(getattr(loaded, column), getattr(drawn, column))
        assert getattr(loaded, column).dtype == getattr(drawn, column).dtype


def test_an_empty_trace_has_an_empty_timeline(draft: Draft, read_draft: ReadDraft, tmp_path: Path) -> None:
    drawn = timeline(read_draft(draft))
    save_timeline(drawn, tmp_path / "timeline.npz")
    assert load_timeline(tmp_path / "timeline.npz").tracks == ()
    assert len(drawn.start_ns) == 0


def test_another_file_is_no_timeline(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(b"not a zip")
    np.savez(tmp_path / "b.npz", other=np.zeros(3))
    for name in ("a.npz", "b.npz"):
        with pytest.raises(ValueError, match=f"{name} holds no timeline"):
            load_timeline(tmp_path / name)
