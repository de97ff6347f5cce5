"""How kernels were launched: on our recordings from an H200, on hand-made records, and on public traces."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from profiles.results import KernelUse
from profiles.trace.forward import per_forward
from profiles.trace.model import ABSENT, LaunchShape, SliceKind, Trace
from profiles.trace.read import read_trace

if TYPE_CHECKING:
    from conftest import Draft

ReadDraft = Callable[["Draft"], Trace]


def _uses(trace: Trace) -> dict[str, KernelUse]:
    return {use.short_name: use for use in per_forward(trace, device="cuda:0").kernels}


def test_flash_attention_holds_255_registers_a_thread_and_48_kib_of_shared_memory(recordings: Path) -> None:
    use = _uses(read_trace(recordings / "cuda_sdpa_flash.json.gz"))["flash_fwd_kernel"]
    assert (use.registers, use.shared_bytes, use.grid, use.block) == (255, 49152, (2, 1, 2), (128, 1, 1))


def test_an_occupancy_of_0_means_not_reported(recordings: Path) -> None:
    uses = _uses(read_trace(recordings / "cuda_naive.json.gz"))
    assert uses["mul elementwise"].occupancy == 0.06
    assert all(use.occupancy is None for name, use in uses.items() if name.startswith("nvjet"))


def test_copies_and_fills_have_no_shape(recordings: Path) -> None:
    use = _uses(read_trace(recordings / "cuda_naive.json.gz"))["Memcpy DtoD"]
    assert (use.registers, use.shared_bytes, use.grid, use.block, use.occupancy) == (None,) * 5


def _with_args(draft: Draft, **args: object) -> None:
    draft.events[-1]["args"].update(args)


def test_the_shape_is_that_of_the_longest_call(draft: Draft, read_draft: ReadDraft) -> None:
    draft.forward(0, 0, 100)
    for number, (duration, width) in enumerate([(5, 1), (9, 2), (7, 3)], 1):
        draft.launched(10 * number, number, duration=duration)
        _with_args(draft, grid=[width, 1, 1], block=[32, 1, 1], **{"registers per thread": 40})
    use = _uses(read_draft(draft))["some_kernel"]
    assert (use.grid, use.registers, use.calls) == ((2, 1, 1), 40, 3)


@pytest.mark.parametrize(
    ("args", "shape"),
    [
        ({"grid": [1, 1, 1]}, None),  # neither block nor registers: nothing to tell
        ({"grid": [4, 1, 1], "block": [64, 2, 1]}, LaunchShape(grid=(4, 1, 1), block=(64, 2, 1))),
        ({"grid": "wide", "block": [64, 2]}, LaunchShape()),
        ({"grid": [0, 1, 1], "block": [64, 1, 1]}, LaunchShape(block=(64, 1, 1))),
        ({"registers per thread": "many", "block": [1, 1, 1]}, LaunchShape(block=(1, 1, 1))),
        ({"registers per thread": -1, "shared memory": 1e300}, LaunchShape()),
        (
            {"registers per thread": 32, "shared memory": 0, "est. achieved occupancy %": 50},
            LaunchShape(registers=32, shared_bytes=0, occupancy=0.5),
        ),
        ({"registers per thread": 32, "est. achieved occupancy %": 150}, LaunchShape(registers=32)),
        ({"registers per thread": 32, "est. achieved occupancy %": [1]}, LaunchShape(registers=32)),
    ],
)
def test_what_a_record_says_of_its_launch(
    draft: Draft, read_draft: ReadDraft, args: dict[str, object], shape: LaunchShape | None
) -> None:
    draft.launched(10, 1)
    _with_args(draft, **args)
    trace = read_draft(draft)
    kernel = trace.slices.of(SliceKind.KERNEL)[0]
    number = int(trace.slices.shape[kernel])
    assert (None if number == ABSENT else trace.shapes[number]) == shape


def test_equal_shapes_are_kept_once(draft: Draft, read_draft: ReadDraft) -> None:
    for number in range(1, 101):
        draft.launched(20 * number, number)
        _with_args(draft, grid=[number % 2 + 1, 1, 1], block=[32, 1, 1])
    assert len(read_draft(draft).shapes) == 2


def test_a_public_trace_of_an_amd_gpu_tells_grids_but_no_registers(public_traces: Path) -> None:
    trace = read_trace(public_traces / "16_mi300x_bert_small_infer.json.gz")
    shapes = [trace.shapes[number] for number in trace.slices.shape[trace.slices.of(SliceKind.KERNEL)].tolist()]
    assert len(shapes) == 60
    assert all(shape.grid and shape.block and shape.registers is None for shape in shapes)


def test_a_public_trace_of_2021_tells_what_it_knew_then(public_traces: Path) -> None:
    trace = read_trace(public_traces / "27_kineto_2021-02_toplevel_list.json.gz")
    kernels = trace.slices.shape[trace.slices.of(SliceKind.KERNEL)]
    assert not (kernels == ABSENT).any()
    assert LaunchShape(registers=80, shared_bytes=6400, grid=(4, 8, 32), block=(8, 32, 1)) in trace.shapes
