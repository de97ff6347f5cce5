"""The fusion ledger on ladders whose layout is known."""

from __future__ import annotations

from profiles.comparison.entry import entries_of
from profiles.comparison.ledger import Column, ledger
from profiles.comparison.roles import by_role, segments, traced_ns
from profiles.results import KernelUse, Role
from tests.profiles.comparison.ladder import counts, ladder, ladder_runs, measured, results, use
from tests.profiles.comparison.other import DECODER, SWIGLU, decoder_runs, swiglu_runs


def _column(*kernels: KernelUse) -> Column:
    run = measured("naive", gpu_us=1, call_us=1, memory_mib=1, error=0, counts=counts(1), kernels=kernels)
    found = ledger(entries_of(results(run)))
    assert found is not None
    return found.columns[0]


def test_naive_has_one_cell_per_stage_and_the_copy_before_the_mask() -> None:
    column = _column(*ladder_runs()[0].kernels)
    assert [(cell.first, cell.span) for cell in column.cells] == [(0, 1), (1, 1), (2, 1), (3, 1), (4, 1)]
    assert [block.label for block in column.cells[2].blocks] == ["Memcpy DtoD", "masked_fill"]
    assert [block.thin for block in column.cells[2].blocks] == [True, False]


def test_fused_kernel_spans_all_stages() -> None:
    cell = _column(*ladder_runs()[2].kernels).cells[0]
    assert (cell.first, cell.span, cell.blocks[0].stages) == (0, 5, 5)


def test_stage_without_a_kernel_of_its_own_is_an_empty_cell() -> None:
    column = _column(
        use("gemm", Role.GEMM, 1, "scores", position=0), use("softmax", Role.SOFTMAX, 1, "softmax", position=1)
    )
    assert [(cell.first, len(cell.blocks)) for cell in column.cells] == [(0, 1), (1, 0), (2, 0), (3, 1), (4, 0)]


def test_kernels_whose_stages_overlap_share_one_cell() -> None:
    column = _column(
        use("one", Role.GEMM, 1, "scores", "scale", position=0),
        use("two", Role.POINTWISE, 1, "scale", "mask", position=1),
        use("three", Role.SOFTMAX, 1, "softmax", "values", position=2),
    )
    assert [(cell.first, cell.span, len(cell.blocks)) for cell in column.cells] == [(0, 3, 2), (3, 2, 1)]


def test_many_kernels_in_one_stage_are_joined_by_role_and_lose_no_time() -> None:
    uses = [use(f"k{i}", Role.POINTWISE, 1, "mask", position=i) for i in range(7)]
    blocks = _column(*uses).cells[2].blocks
    assert [(block.label, block.calls, block.time_ns) for block in blocks] == [("7 × pointwise", 7, 7000)]


def test_what_cannot_be_joined_by_role_is_joined_between_the_longest() -> None:
    roles = (Role.POINTWISE, Role.REDUCTION)
    uses = [use(f"k{i}", roles[i % 2], 900 if i == 4 else 1, "mask", position=i) for i in range(9)]
    blocks = _column(*uses).cells[2].blocks
    assert [(block.label, block.mixed) for block in blocks] == [
        ("4 launches", True),
        ("k4", False),
        ("4 launches", True),
    ]
    assert sum(block.time_ns for block in blocks) == 908_000


def test_kernels_without_stages_stand_apart() -> None:
    found = ledger(entries_of(results(*swiglu_runs(), workload=SWIGLU)))
    assert found is not None
    compiled = found.columns[1]
    assert compiled.cells == ()
    assert [block.label for block in compiled.loose] == [
        "2 × nvjet 256×128",
        "triton_poi_fused_mul_silu_0",
        "nvjet 128×256",
    ]


def test_some_kernels_without_stages_become_one_block_under_the_others() -> None:
    column = _column(
        use("gemm", Role.GEMM, 5, "scores", position=0),
        use("a", Role.POINTWISE, 1, position=1),
        use("b", Role.REDUCTION, 2, position=2),
    )
    assert [(block.label, block.time_ns) for block in column.loose] == [("2 launches", 3000)]


def test_beyond_five_columns_only_two_fully_fused_ones_are_drawn_and_the_rest_named() -> None:
    found = ledger(ladder())
    assert found is not None
    assert [column.entry.variant for column in found.columns] == [
        *("naive", "naive_inplace", "sdpa_auto", "sdpa_math", "sdpa_flash")
    ]
    assert [entry.variant for entry in found.alike] == ["sdpa_efficient", "sdpa_cudnn"]


def test_whole_model_has_no_ledger() -> None:
    assert ledger(entries_of(results(*decoder_runs(), workload=DECODER))) is None


def test_roles_share_the_whole_traced_time() -> None:
    run = ladder_runs()[0]
    parts = by_role(run)
    assert [part.role for part in parts] == [Role.GEMM, Role.SOFTMAX, Role.POINTWISE, Role.COPY]
    assert sum(part.time_ns for part in parts) == traced_ns(run)
    assert abs(sum(part.share for part in parts) - 1) < 1e-9


def test_bar_segments_follow_launch_order_while_they_can_be_told_apart() -> None:
    assert [part.label for part in segments(ladder_runs()[0])][:3] == ["nvjet 256×128", "mul (scalar)", "Memcpy DtoD"]
    assert [part.label for part in segments(decoder_runs()[0])] == ["gemm", "softmax", "pointwise"]
