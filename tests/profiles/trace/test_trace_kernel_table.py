"""Kernels by name with the operators that launched them: obvious traces, and a public one whose layers are known."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from app.cli import main
from profiles.recorded import Attribution
from profiles.trace.kernel_table import kernel_table
from profiles.trace.model import Trace
from profiles.trace.read import read_trace
from profiles.trace.summary import summarise

if TYPE_CHECKING:
    from conftest import Draft

ReadDraft = Callable[["Draft"], Trace]


def test_a_kernel_names_the_innermost_operator_around_its_launch(draft: Draft, read_draft: ReadDraft) -> None:
    draft.operator("aten::linear", 100, 50)
    draft.operator("aten::addmm", 105, 20)
    draft.launched(110, 1, name="gemm")  # within both
    draft.launched(130, 2, name="bias")  # the inner one has ended
    draft.launched(160, 3, name="alone")
    assert {row.name: row.launched_by for row in kernel_table(read_draft(draft))} == {
        "gemm": ("aten::addmm",),
        "bias": ("aten::linear",),
        "alone": (),
    }


def test_an_operator_of_another_thread_launched_nothing_here(draft: Draft, read_draft: ReadDraft) -> None:
    draft.operator("aten::mm", 100, 50, tid=2)
    draft.launched(110, 1)
    (row,) = kernel_table(read_draft(draft))
    assert row.launched_by == ()


def test_operators_come_by_how_often_they_launched_and_rows_by_time(draft: Draft, read_draft: ReadDraft) -> None:
    for place, name in enumerate(("aten::add", "aten::mul", "aten::mul")):
        draft.operator(name, 100 * place, 50)
        draft.launched(100 * place + 5, place + 1, name="k", duration=5)
    draft.launched(400, 9, name="long", duration=40)
    long, short = kernel_table(read_draft(draft))
    assert (long.name, long.total_ns, long.launched_by) == ("long", 40_000, ())
    assert (short.calls, short.total_ns, short.launched_by) == (3, 15_000, ("aten::mul", "aten::add"))


def test_kernels_of_a_graph_say_that_they_are(draft: Draft, read_draft: ReadDraft) -> None:
    draft.call("cudaGraphLaunch", 100, 1)
    draft.gpu(110, 5, 1)
    draft.gpu(120, 5, 1)
    (row,) = kernel_table(read_draft(draft))
    assert row.attribution == Attribution(by_graph=2)


def test_the_layers_of_a_public_trace_launched_its_kernels(public_traces: Path) -> None:
    trace = read_trace(next(public_traces.glob("13_*")))
    rows = kernel_table(trace)
    summary = summarise(trace)
    assert (sum(row.calls for row in rows), sum(row.total_ns for row in rows)) == (
        summary.kernels,
        summary.kernel_sum_ns,
    )
    by_operator = {operator: row.role for row in rows for operator in row.launched_by}
    assert by_operator["aten::mm"] == "gemm"
    assert by_operator["aten::sum"] == "reduction"


def test_the_list_is_printed_and_written_only_where_asked_for(
    draft: Draft, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draft.operator("aten::mm", 100, 50)
    draft.launched(110, 1, name="gemm_kernel")
    file = tmp_path / "trace.json"
    file.write_text(draft.text())
    assert main(["trace", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kernel_table"] is None
    assert main(["trace", str(file), "--json", "--kernels"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["kernel_table"]
    assert (row["name"], row["launched_by"]) == ("gemm_kernel", ["aten::mm"])
    assert main(["trace", str(file), "--kernels"]) == 0
    assert "aten::mm" in capsys.readouterr().out


def test_the_list_tells_modules_and_lines_where_the_file_does(
    draft: Draft, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draft.add("python_function", "nn.Module: Net_0", 90, 100)
    draft.add("python_function", f"net/{'deep/' * 20}file\u202e.py(3): forward", 91, 90)
    draft.launched(110, 1, name="gemm_kernel")
    file = tmp_path / "trace.json"
    file.write_text(draft.text())
    assert main(["trace", str(file), "--kernels"]) == 0
    head, row = next(pair for pair in pairwise(capsys.readouterr().out.splitlines()) if "in module" in pair[0])
    assert "inferred" not in head
    assert "Net_0" in row
    assert "net/deep/deep/de…" in row
    assert "file\\u202e.py(3): forward" in row
    assert main(["trace", str(file), "--kernels", "--json"]) == 0
    (kernel,) = json.loads(capsys.readouterr().out)["kernel_table"]
    assert (kernel["modules"], kernel["inferred"]) == (["Net_0"], 0)
